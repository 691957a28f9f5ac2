import java.io.IOException;

/** starter-bot: FILL IN: how it plays. */
public class Bot implements Agon.Bot {
    @Override
    public Object turn(Agon.Json seen, Agon.Random random) {
        // Your idea goes here: FILL IN: what to think about.
        return "1";
    }

    public static void main(String[] arguments) throws IOException {
        Agon.run(new Bot());
    }
}
