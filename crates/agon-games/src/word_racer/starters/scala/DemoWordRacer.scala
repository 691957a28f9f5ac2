import scala.io.Source
import scala.util.Try

/** starter-bot: writes each letter where it gives the most points at once, and calls the letter that gives the most. */
class DemoWordRacer extends WordRacer {
  private val Side = 7
  private val Empty = '.'
  private val Letters = "EARIOTNSLCUDPMHGBFYWKVXZJQ" // most useful first
  private val Points = Array(0, 0, 1, 2, 3, 5, 8, 13) // by length

  /** The valid words, from words.dat in the bot's folder. Without the file the bot plays with no words. */
  private val words: Set[String] = Try {
    val file = Source.fromFile("words.dat")
    try file.getLines().toSet
    finally file.close()
  }.getOrElse(Set.empty)

  private val board = Array.fill(Side * Side)(Empty) // row by row

  def start(letter: Char): Unit = board(24) = letter

  def call(): (Char, Int) = {
    // Your idea goes here: plan longer words, and consider the letter's value for the other player.
    val options = for (letter <- Letters; position <- free) yield (letter, position)
    write(options.maxBy { case (letter, position) => gain(letter, position) })
  }

  def place(letter: Char): Int = {
    // Your idea goes here: keep good cells for long words, and put useless letters aside.
    write((letter, free.maxBy(position => gain(letter, position))))._2
  }

  def isFull: Boolean = free.isEmpty

  private def free: Seq[Int] = board.indices.filter(position => board(position) == Empty)

  private def write(choice: (Char, Int)): (Char, Int) = {
    board(choice._2) = choice._1
    choice
  }

  /** Points that a letter on this position adds at once. */
  private def gain(letter: Char, position: Int): Int = {
    val before = pointsAround(position)
    board(position) = letter
    val after = pointsAround(position)
    board(position) = Empty
    after - before
  }

  private def pointsAround(position: Int): Int = {
    val row = new String(board, position / Side * Side, Side)
    val column = (position % Side until Side * Side by Side).map(cell => board(cell)).mkString
    points(row) + points(column)
  }

  /** Maximum points of the words in this row or column, each cell used once. */
  private def points(line: String): Int = {
    val best = new Array[Int](Side + 1) // best(end): maximum for the cells before `end`
    for (end <- 1 to Side) {
      best(end) = best(end - 1)
      for (start <- 0 until end - 1 if words.contains(line.substring(start, end)))
        best(end) = math.max(best(end), best(start) + Points(end - start))
    }
    best(Side)
  }
}
