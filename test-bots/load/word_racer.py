"""Word Racer, with its text protocol: thinks, then takes the next free cell."""

from thinking import think

input()
calls = input() == "1"
cells = iter([cell for cell in range(49) if cell != 24])
for cell in cells:
    if not calls:
        try:
            input()
        except EOFError:
            break
    think()
    print(f"E {cell}" if calls else cell, flush=True)
    calls = not calls
