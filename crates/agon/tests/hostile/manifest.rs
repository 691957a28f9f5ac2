//! All hostile bots with their kind and the required result. The first lines of each bot describe its attack.

use crate::Expect::{self, Fault, Harmless, Nothing, Refused};
use crate::{Bot, Game, attack_must_fail, is_real};

/// `holds`: the attack fails. `real`: it fails, but succeeds without the sandbox. `slow`: it takes long. `holes`: it succeeds today.
macro_rules! collection {
    (holds { $($held:ident $held_game:ident $held_expect:expr;)* }
     real { $($real:ident $real_game:ident $real_expect:expr;)* }
     slow { $($slow:ident $slow_game:ident $slow_expect:expr;)* }
     holes { $($hole:ident $hole_game:ident $hole_expect:expr, $why:literal;)* }) => {
        pub const BOTS: &[Bot] = &[
            $(bot(stringify!($held), Game::$held_game, $held_expect),)*
            $(Bot { real: true, ..bot(stringify!($real), Game::$real_game, $real_expect) },)*
            $(Bot { slow: true, ..bot(stringify!($slow), Game::$slow_game, $slow_expect) },)*
            $(Bot { hole: Some($why), ..bot(stringify!($hole), Game::$hole_game, $hole_expect) },)*
        ];
        $(#[test] fn $held() { attack_must_fail(stringify!($held)); })*
        $(#[test] fn $real() { attack_must_fail(stringify!($real)); })*
        $(#[test] fn $slow() { attack_must_fail(stringify!($slow)); })*
        $(#[test] #[ignore = $why] fn $hole() { attack_must_fail(stringify!($hole)); })*
        mod without_the_sandbox {
            $(#[test] fn $real() { super::is_real(stringify!($real)); })*
        }
    };
}

const fn bot(name: &'static str, game: Game, expect: Expect) -> Bot {
    Bot { name, game, expect, real: false, slow: false, hole: None }
}

collection! {
    holds {
        // Resource exhaustion.
        fork_bomb Connect Nothing;
        fork_chain Connect Nothing;
        thread_bomb Connect Nothing;
        memory_bomb Connect Nothing;
        memory_at_once Connect Nothing;
        disk_fill Connect Nothing;
        many_descriptors Connect Nothing;
        endless_loop Quick Fault("timeout", "");
        sleep Quick Fault("timeout", "");
        deaf_loop Quick Fault("timeout", "");
        stop_self Quick Fault("timeout", "");
        slow_pattern Quick Fault("timeout", "");
        slow_number Quick Fault("timeout", "");
        exit_at_once Connect Fault("crash", "ended");
        exit_in_import Connect Refused("SystemExit");
        segfault Connect Fault("crash", "signal");
        abort_with_core Connect Fault("crash", "signal");
        recursion Connect Fault("crash", "RecursionError");
        recursion_of_stack Connect Fault("crash", "");
        import_recursion Connect Refused("RecursionError");
        log_flood Connect Harmless;
        log_without_end Connect Harmless;
        traceback_huge Connect Fault("crash", "words");
        exception_that_lies Connect Fault("crash", "");
        exception_that_hangs Quick Fault("timeout", "");
        // The protocol.
        stdout_flood Json Fault("garbled", "");
        endless_line Json Fault("garbled", "64 KiB");
        nul_bytes Json Fault("garbled", "u{0}");
        not_utf8 Json Fault("garbled", "");
        deep_json Json Fault("garbled", "");
        many_keys Json Fault("garbled", "");
        control_characters Json Fault("garbled", "u{1b}");
        early_answer Json Harmless;
        double_answer Json Fault("garbled", "");
        answer_before_hello Json Harmless;
        answer_other_id Json Fault("garbled", "when");
        answer_for_other Json Nothing;
        answer_ahead Connect Fault("garbled", "");
        fault_for_other Json Fault("crash", "it was seat 1");
        fault_unknown Json Fault("garbled", "");
        slow_drip JsonQuick Fault("timeout", "");
        half_a_line Json Fault("crash", "without an end");
        closed_output Json Fault("crash", "closed its standard output");
        nan_in_json Json Fault("garbled", "");
        huge_in_json Json Fault("garbled", "");
        negative_id Json Fault("garbled", "");
        close_descriptors Connect Fault("crash", "");
        write_to_all Connect Fault("garbled", "");
        read_from_all Connect Harmless;
        exec_other Quick Harmless;
        // Invalid answers.
        nan_answer Connect Fault("garbled", "nan");
        huge_answer Connect Fault("illegal", "");
        lying_answer Connect Fault("garbled", "Lie");
        lying_number Connect Nothing;
        generator_answer Connect Fault("garbled", "generator");
        repr_recursion Connect Fault("garbled", "list");
        lying_text Solitude Nothing;
        lying_move Colour Harmless;
        change_board Connect Nothing;
        change_grid Colour Nothing;
        name_with_commands Connect Fault("crash", "ValueError");
        name_of_10000 Connect Nothing;
        // Attacks on the host in the bot's own process.
        clock_seen Quick Fault("timeout", "");
        monkeypatch_host Connect Harmless;
        monkeypatch_library Connect Harmless;
        settrace Connect Harmless;
        gc_snoop Connect Nothing;
        environment_snoop Connect Nothing;
        // The kernel.
        clock_set Connect Nothing;
        system_calls Connect Nothing;
        raw_calls Native Nothing;
        old_calls Native Harmless;
        ptrace_others Connect Nothing;
        unshare Connect Nothing;
        mount Connect Nothing;
        setuid Connect Nothing;
        chroot_escape Connect Nothing;
        fifos_and_devices Connect Nothing;
        limits_raised Connect Nothing;
        read_machine_files Connect Nothing;
        wake_up Connect Nothing;
        // Leftovers.
        daemon_left Connect Nothing;
        threads_left Connect Nothing;
        end_hooks Connect Nothing;
        del_tricks Connect Nothing;
        think_off_turn Slow Nothing;
        child_off_turn Slow Nothing;
        // State between the calls of Solitude Scramble.
        state_globals Solitude Nothing;
        state_modules Solitude Nothing;
        state_builtins Solitude Nothing;
        state_files Solitude Nothing;
        state_threads Solitude Nothing;
        state_environment Solitude Nothing;
        state_log_level Solitude Harmless;
        state_between_games Solitude Nothing;
        threads_at_load Solitude Refused("starts a thread while it is loaded");
        shared_at_load Solitude Harmless;
        call_kills_host Solitude Harmless;
        call_hangs Solitude Fault("crash", "os.fork()");
        call_lies Solitude Harmless;
        import_by_name Solitude Harmless;
        import_by_machinery Solitude Harmless;
        import_by_friend Solitude Harmless;
        import_by_subclasses Solitude Harmless;
        import_by_exec Solitude Harmless;
        import_by_bytes Solitude Harmless;
        // Former holes.
        state_signals Solitude Harmless;
        state_parent_descriptors Solitude Harmless;
        read_neighbour Connect Nothing;
        shadow_host Solitude Harmless;
        shadow_library Solitude Nothing;
        collude_by_locks Connect Nothing;
        clock_by_children Quick Harmless;
        memory_by_children Connect Fault("crash", "memory");
        state_children Solitude Nothing;
        state_descriptor_flags Solitude Harmless;
        state_pipe_size Solitude Harmless;
        state_locks Solitude Harmless;
        state_page_cache Solitude Harmless;
        state_borrowed_output Solitude Harmless;
        state_patched_host Solitude Harmless;
        state_audit_hook Solitude Harmless;
        // What a call could leave for the next one, and floods of what the engine reads.
        state_socket_flags Solitude Nothing;
        state_socket_shutdown Solitude Nothing;
        state_log_flags Solitude Nothing;
        state_open_file Solitude Nothing;
        state_kernel_objects Solitude Nothing;
        state_shared_mapping Solitude Nothing;
        state_signal_queue Solitude Nothing;
        state_parent_settings Solitude Nothing;
        state_own_settings Solitude Nothing;
        answer_flood Solitude Fault("garbled", "");
        answer_twice Solitude Harmless;
    }
    real {
        many_files Connect Nothing;
        read_outside Connect Nothing;
        read_other_bot Connect Nothing;
        read_engine_memory Connect Nothing;
        read_other_memory Connect Nothing;
        read_shared_memory Connect Nothing;
        write_outside Connect Nothing;
        replace_own_files Connect Nothing;
        symlink_tricks Connect Nothing;
        symlink_in_folder Connect Nothing;
        hard_links Connect Nothing;
        proc_snoop Connect Nothing;
        signal_others Connect Nothing;
        signal_by_pipe Connect Nothing;
        sockets_inet Connect Nothing;
        sockets_unix Connect Nothing;
        sockets_abstract Connect Nothing;
        sockets_netlink Connect Nothing;
        memfd_exec Connect Nothing;
        own_memory Connect Nothing;
        priority Connect Nothing;
        ipc_system_v Connect Nothing;
        ipc_posix Connect Nothing;
        programs_of_others Connect Nothing;
    }
    slow {
        state_takeover Solitude Refused("not ready");
        slow_constructor Connect Refused("not ready");
        name_that_hangs Connect Refused("not ready");
        deaf_program Json Refused("not ready");
        call_lingers Solitude Fault("crash", "did not end after its answer");
        call_log_flood Solitude Harmless;
    }
    holes {
    }
}
