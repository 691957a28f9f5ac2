use super::process_figures::shows_no_sleep;
use super::*;

const MS: Duration = Duration::from_millis(1);

fn sample(start: Instant, at: u32, cpu: u32, wait: u32) -> UsageSample {
    let usage = Usage { cpu: cpu * MS, wait: wait * MS, ..Usage::default() };
    UsageSample { at: start + at * MS, usage }
}

#[test]
fn wait_of_threads_that_have_ended_is_not_charged() {
    let start = Instant::now();
    let reading = |at: u32, cpu: u32, group: u32, is_parallel: bool| {
        let mut reading = sample(start, at, cpu, 0);
        reading.usage.group_wait = Some(group * MS);
        reading.usage.is_parallel = is_parallel;
        reading
    };
    let before = reading(0, 10, 5, false);
    assert_eq!(reading(100, 50, 65, true).since(before).charged(), 40 * MS, "all of the rest was waiting");
    assert_eq!(reading(150, 50, 65, true).since(before).charged(), 90 * MS, "50 ms of sleep are charged");
    assert_eq!(reading(100, 50, 65, false).since(before).charged(), 100 * MS, "the only thread did not wait");
    assert_eq!(
        reading(100, 50, 900, true).since(before).charged(),
        40 * MS,
        "CPU time is charged in any case"
    );
}

#[test]
fn waiting_for_a_processor_is_not_charged() {
    let start = Instant::now();
    let times = sample(start, 100, 30, 60).since(sample(start, 0, 10, 10));
    assert_eq!((times.wall, times.cpu, times.wait), (100 * MS, 20 * MS, 50 * MS));
    assert_eq!(times.charged(), 50 * MS);
}

#[test]
fn runnable_process_without_a_processor_is_not_late() {
    let times = |cpu: u32| AnswerTimes { wall: 200 * MS, cpu: cpu * MS, wait: Duration::ZERO };
    let late = |cpu, ready| is_late(times(cpu), 20 * MS, 50 * MS, || ready);
    assert!(late(5, false), "it sleeps");
    assert!(!late(5, true), "it has not used its limit yet");
    assert!(late(20, true), "it has");
    assert!(!is_late(times(5), 180 * MS, 50 * MS, || false), "not yet");
    // This thread runs; the thread that waits for it sleeps.
    assert!(CpuMeter::new(std::process::id()).is_runnable() || !CpuMeter::new(0).is_runnable());
    let mut sleeper = std::process::Command::new("sleep").arg("20").spawn().unwrap();
    let meter = CpuMeter::new(sleeper.id());
    let slept = (0..500).any(|_| {
        std::thread::sleep(10 * MS);
        !meter.is_runnable()
    });
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert!(slept && !meter.is_runnable());
}

#[test]
fn waiting_threads_of_one_bot_are_charged() {
    let start = Instant::now();
    let times = sample(start, 100, 80, 900).since(sample(start, 0, 0, 0));
    assert_eq!(times.charged(), 80 * MS);
    let two_cores = sample(start, 100, 190, 900).since(sample(start, 0, 0, 0));
    assert_eq!(two_cores.charged(), 100 * MS);
}

#[test]
fn busy_second_thread_is_counted() {
    let meter = CpuMeter::new(std::process::id());
    let counted = || {
        let before = meter.sample();
        let busy = std::thread::spawn(|| {
            let start = Instant::now();
            while start.elapsed() < 30 * MS {}
            // The thread ends only after the reading: ended threads are not counted.
            std::thread::park();
        });
        std::thread::sleep(60 * MS);
        let times = meter.sample().since(before);
        busy.thread().unpark();
        busy.join().unwrap();
        times.cpu >= 2 * MS
    };
    // Threads of other tests may end in between, and then their time is no longer counted.
    assert!((0..20).any(|_| counted()));
}

#[test]
fn process_without_sleep_is_told_from_one_that_slept() {
    let status = |state: &str, switches: u32| {
        format!(
            "Name:\tx\nState:\t{state}\nThreads:\t1\nvoluntary_ctxt_switches:\t{switches}\nnonvoluntary_ctxt_switches:\t9\n"
        )
    };
    let stat = |pages: u32| format!("7 (a) b) R 1 2 3 0 -1 64 500 0 {pages} 0 1 1\n");
    assert!(shows_no_sleep(&status("R (running)", 0), &stat(0)));
    assert!(shows_no_sleep(&status("Z (zombie)", 1), &stat(0)), "it has ended");
    assert!(!shows_no_sleep(&status("R (running)", 1), &stat(0)));
    assert!(!shows_no_sleep(&status("Z (zombie)", 2), &stat(0)));
    assert!(shows_no_sleep(&status("Z (zombie)", 5), &stat(2)), "it waited for two pages");
    assert!(!shows_no_sleep(&status("Z (zombie)", 6), &stat(2)));
    assert!(!shows_no_sleep("", ""), "nothing is known");
    let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let slept = (0..12_000).any(|_| {
        std::thread::sleep(10 * MS);
        !has_never_slept(sleeper.id())
    });
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert!(slept && !has_never_slept(u32::MAX));
}

#[test]
fn answer_without_sleep_is_charged_its_processor_time() {
    let stolen = AnswerTimes { wall: 60 * MS, cpu: 11 * MS, wait: 39 * MS };
    assert_eq!((stolen.charged(), without_sleep(stolen).charged()), (21 * MS, 11 * MS));
    let all = AnswerTimes { wall: 10 * MS, cpu: 11 * MS, wait: Duration::ZERO };
    assert_eq!(without_sleep(all), all);
}

#[test]
fn missing_process_has_no_usage() {
    assert_eq!(CpuMeter::new(u32::MAX).read(), Usage::default());
}
