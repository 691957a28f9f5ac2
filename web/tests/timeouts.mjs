// How long tests wait. Tests wait for events, never for the speed of the machine: these limits only end a test that hangs.

/** The longest wait for one event, in milliseconds. */
export const WAIT_TIMEOUT = 120_000;

/** The longest test or hook, in milliseconds: it may wait for several events, one after the other. */
export const TEST_TIMEOUT = 600_000;
