import java.io.{BufferedReader, InputStreamReader}

/** What a bot decides. Runner does all the reading and writing. */
trait WordRacer {

  /** The letter in the centre, position 24. */
  def start(letter: Char): Unit

  /** The letter that the bot calls, and its position on its own board. */
  def call(): (Char, Int)

  /** Position on the bot's board for a letter that the other player called. */
  def place(letter: Char): Int

  /** Whether all cells are written. */
  def isFull: Boolean
}

/** The main program: speaks the protocol of Word Racer. Change the bot in the next line to your class. */
object Runner {
  def newBot(): WordRacer = new DemoWordRacer

  def main(arguments: Array[String]): Unit = {
    val input = new BufferedReader(new InputStreamReader(System.in))
    val bot = newBot()
    bot.start(input.readLine().trim.charAt(0))
    var myCall = input.readLine().trim == "1"
    while (!bot.isFull) {
      if (myCall) {
        val (letter, position) = bot.call()
        println(s"$letter $position")
      } else {
        val line = input.readLine()
        if (line == null) return
        println(bot.place(line.trim.charAt(0)))
      }
      myCall = !myCall
    }
  }
}
