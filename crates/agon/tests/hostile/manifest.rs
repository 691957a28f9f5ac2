//! All hostile bots with their kind and the required result. The first lines of each bot describe its attack.

use crate::Expect::{self, Charged, Fault, Harmless, Nothing, Refused};
use crate::{Bot, Game, attack_must_fail, is_free_without_the_meter, is_real, works_without};

/// `holds`: the attack fails. `real`: it fails, but succeeds without the sandbox. `limits`: it fails, but succeeds without the defences
/// that are named. `charged`: what it uses is charged, but not with the meter switched off. `slow`: it takes long. `holes`: it succeeds
/// today.
macro_rules! collection {
    (holds { $($held:ident $held_game:ident $held_expect:expr;)* }
     real { $($real:ident $real_game:ident $real_expect:expr;)* }
     limits { $($limit:ident $limit_game:ident $limit_expect:expr, $off:literal;)* }
     charged { $($charged:ident;)* }
     slow { $($slow:ident $slow_game:ident $slow_expect:expr;)* }
     holes { $($hole:ident $hole_game:ident $hole_expect:expr, $why:literal;)* }) => {
        pub const BOTS: &[Bot] = &[
            $(bot(stringify!($held), Game::$held_game, $held_expect),)*
            $(Bot { real: true, ..bot(stringify!($real), Game::$real_game, $real_expect) },)*
            $(Bot { defences: Some($off), ..bot(stringify!($limit), Game::$limit_game, $limit_expect) },)*
            $(bot(stringify!($charged), Game::Timed, Charged),)*
            $(Bot { slow: true, ..bot(stringify!($slow), Game::$slow_game, $slow_expect) },)*
            $(Bot { hole: Some($why), ..bot(stringify!($hole), Game::$hole_game, $hole_expect) },)*
        ];
        $(#[test] fn $held() { attack_must_fail(stringify!($held)); })*
        $(#[test] fn $real() { attack_must_fail(stringify!($real)); })*
        $(#[test] fn $limit() { attack_must_fail(stringify!($limit)); })*
        $(#[test] fn $charged() { attack_must_fail(stringify!($charged)); })*
        $(#[test] fn $slow() { attack_must_fail(stringify!($slow)); })*
        $(#[test] #[ignore = $why] fn $hole() { attack_must_fail(stringify!($hole)); })*
        mod without_the_sandbox {
            $(#[test] fn $real() { super::is_real(stringify!($real)); })*
        }
        /// Needs a program with debug assertions: others have no way to switch a defence off.
        #[cfg(debug_assertions)]
        mod without_its_defence {
            $(#[test] fn $limit() { super::works_without(stringify!($limit)); })*
        }
        mod without_the_meter {
            $(#[test] fn $charged() { super::is_free_without_the_meter(stringify!($charged)); })*
        }
    };
}

const fn bot(name: &'static str, game: Game, expect: Expect) -> Bot {
    Bot { name, game, expect, real: false, slow: false, hole: None, defences: None }
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
        exit_at_once Connect Fault("crash", "its process ended: exit code 0");
        exit_in_import Connect Refused("SystemExit");
        segfault Connect Fault("crash", "its process ended: killed by SIGSEGV");
        abort_with_core Connect Fault("crash", "its process ended: killed by SIGABRT");
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
        think_after_answer Timed Charged;
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
        helper_at_load Colour Refused("starts a process while it is loaded");
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
        memory_locked Connect Nothing;
        huge_pages_on Connect Nothing;
        limits_of_children Connect Nothing;
        clone_signals Connect Nothing;
        cache_queries Connect Nothing;
        disk_attributes Connect Nothing;
        ipc_system_v Connect Nothing;
        ipc_posix Connect Nothing;
        programs_of_others Connect Nothing;
    }
    limits {
        // Memory.
        memory_growing_stack Connect Nothing, "mapping-flags,memory-count";
        memory_huge_pool Connect Nothing, "mapping-flags";
        memory_read_only Connect Fault("crash", "memory"), "memory-count";
        memory_without_access Connect Fault("crash", "memory"), "memory-count";
        memory_populated Connect Fault("crash", "memory"), "memory-count";
        memory_stack_copy Connect Fault("crash", "memory"), "memory-count";
        memory_page_tables Connect Fault("crash", "memory"), "page-tables";
        memory_forked_writes Connect Harmless, "forked-memory";
        memory_orphans Connect Harmless, "memory-count";
        memory_sealed Connect Nothing, "kernel-objects";
        // Memory of the kernel.
        kernel_rulesets Connect Nothing, "kernel-objects";
        kernel_filters Connect Nothing, "kernel-objects";
        kernel_page_handler Connect Nothing, "kernel-objects";
        kernel_pipes Connect Nothing, "buffers";
        kernel_sockets Connect Harmless, "buffers";
        kernel_signals Connect Nothing, "pending-signals";
        cache_advice Connect Nothing, "page-advice";
        // Disk.
        disk_reserved Connect Nothing, "blocks,exact-folders";
        disk_deleted Connect Fault("crash", "No space left"), "deleted-files,exact-folders";
        disk_replaced Connect Fault("crash", "No space left"), "deleted-files,exact-folders";
        disk_deleted_mapped Connect Fault("crash", "No space left"), "deleted-files,exact-folders";
        disk_deleted_children Connect Harmless, "deleted-files,exact-folders";
        disk_thread_table Connect Nothing, "descriptor-tables,exact-folders";
        disk_in_flight Connect Nothing, "descriptor-tables,exact-folders";
        disk_nameless Connect Nothing, "descriptor-tables,deleted-files,exact-folders";
        disk_sparse Connect Fault("crash", "wrote more"), "lengths,exact-folders";
        disk_entries Connect Fault("crash", ""), "entries,exact-folders";
        disk_fast Connect Fault("crash", "No space left"), "folder-pace,exact-folders";
        disk_mapped_writes Connect Fault("crash", ""), "blocks,lengths,exact-folders";
        disk_deep Connect Fault("crash", "wrote more"), "unlistable-folders,exact-folders";
    }
    charged {
        clock_by_threads;
        clock_by_orphans;
        clock_by_siblings;
        clock_by_clone3;
        clock_by_program;
        think_in_orphan;
        think_when_woken;
        think_in_timer;
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
