// What axe finds on a page that keeps people out.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** `only`: the rules to look at, if not all. */
export async function seriousFindings(page: Page, only?: string[]): Promise<string[]> {
  // Not as a script of the page: its policy may allow none.
  await page.evaluate(AXE);
  const found = await page.evaluate(async (rules) => {
    const axe = (window as unknown as { axe: { run(options: unknown): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> } }).axe;
    return (await axe.run({ preload: false, ...(rules ? { runOnly: rules } : {}) })).violations;
  }, only);
  return found
    .filter((finding) => finding.impact === 'serious' || finding.impact === 'critical')
    .map((finding) => `${finding.id}: ${finding.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
}
