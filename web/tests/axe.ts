// Accessibility findings of axe.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Serious and critical findings; `only` restricts the rules. */
export async function seriousFindings(page: Page, only?: string[]): Promise<string[]> {
  // Evaluated, because the policy of the page may forbid scripts.
  await page.evaluate(AXE);
  const found = await page.evaluate(async (rules) => {
    const axe = (window as unknown as { axe: { run(options: unknown): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> } }).axe;
    return (await axe.run({ preload: false, ...(rules ? { runOnly: rules } : {}) })).violations;
  }, only);
  return found
    .filter((finding) => finding.impact === 'serious' || finding.impact === 'critical')
    .map((finding) => `${finding.id}: ${finding.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
}
