import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Connect Five: works in a pool of four threads, leaves garbage for the collector, and reports the CPU time of the whole process. */
final class ThreadedBot implements Agon.Bot {
    private static final long NANOSECONDS = 10_000_000;
    private final ExecutorService pool = Executors.newFixedThreadPool(4);
    private final OperatingSystemMXBean system =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private long reported = -1;
    private int player;

    public static void main(String[] arguments) throws IOException {
        Agon.run(new ThreadedBot());
        System.exit(0);
    }

    @Override
    public void start(Agon.Json message) {
        reported = system.getProcessCpuTime();
    }

    @Override
    public Object turn(Agon.Json seen, Agon.Random random) {
        player = seen.get("player").whole();
        var tasks = new ArrayList<Future<Integer>>();
        for (int i = 0; i < 4; i++) {
            tasks.add(pool.submit(ThreadedBot::work));
        }
        try {
            for (var task : tasks) {
                task.get();
            }
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
        long now = system.getProcessCpuTime();
        System.err.println("used " + (now - reported) / 1000 + " us");
        reported = now;
        return player == 1 ? 0 : 8;
    }

    private static int work() {
        var threads = ManagementFactory.getThreadMXBean();
        long end = threads.getCurrentThreadCpuTime() + NANOSECONDS;
        int sum = 0;
        while (threads.getCurrentThreadCpuTime() < end) {
            sum += new int[1000].length;
        }
        return sum;
    }
}
