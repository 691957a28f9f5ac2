def Seeker(Player):
    def __init__(self, game_map, spawn_position, enemy_spawn_position):
        super().__init__(game_map, spawn_position, enemy_spawn_position)

    def move(self):
        next_pos = self.very_advanced_catching_algorithm()

        if movement_rules_obided(self.game_map, self.pos, next_pos):
            self.pos = next_pos
