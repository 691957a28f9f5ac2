// Timeouts of the tests. Tests wait for events, so these limits only end a test that hangs.

/** Maximum wait for one event, in milliseconds. */
export const WAIT_TIMEOUT = 120_000;

/** Maximum duration of a test or hook, in milliseconds. It may wait for several events. */
export const TEST_TIMEOUT = 600_000;
