// Reporter that records skipped tests. `make test` lists them at its end.

import { appendFileSync } from 'node:fs';
import type { Reporter, TestCase } from 'vitest/node';
import { CHROMIUM } from './agon.mjs';
import { missing } from './needs.mjs';

export default class SkippedTestsReporter implements Reporter {
  #skipped: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.result().state !== 'skipped') return;
    const why = missing().map((what) => (what === 'Chromium' ? `no Chromium at ${CHROMIUM}` : `no ${what}`));
    this.#skipped.push(`web\t${test.module.relativeModuleId}: ${test.fullName}\t${why.join(', ') || 'skipped in the test file'}\tsetup\n`);
  }

  onTestRunEnd(): void {
    if (this.#skipped.length === 0) return;
    const list = process.env.AGON_SKIPPED_TESTS;
    if (list !== undefined && list !== '') appendFileSync(list, this.#skipped.join(''));
    else process.stderr.write(`tests that could not run:\n${this.#skipped.join('')}`);
    if (process.env.CI || process.env.AGON_REQUIRE_ALL) {
      process.stderr.write('error: tests could not run\nhint: scripts/setup.sh tests installs what they need\n');
      process.exitCode = 1;
    }
  }
}
