import scala.io.StdIn

/** A game on the console, without Agon: you call every second letter, and see what the bot does with it. */
object LocalTester {
  def main(arguments: Array[String]): Unit = {
    val bot = Runner.newBot()
    bot.start(letter("Letter in the centre: "))
    while (!bot.isFull) {
      val (called, position) = bot.call()
      println(s"The bot calls $called and writes it on $position.")
      if (!bot.isFull) println(s"The bot writes your letter on ${bot.place(letter("Your letter: "))}.")
    }
  }

  private def letter(question: String): Char = {
    print(question)
    val line = StdIn.readLine()
    if (line == null) sys.exit()
    line.trim.toUpperCase.headOption.filter(c => 'A' <= c && c <= 'Z').getOrElse(letter("A letter from A to Z: "))
  }
}
