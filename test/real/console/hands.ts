import type { Page } from 'playwright-core';
import { actions } from '../../../console/actions.ts';

/** What a person does with the page. */
export async function typeToken(page: Page, token: string): Promise<void> {
  await page.getByLabel(/requires a token/).fill(token);
  await page.getByRole('button', { name: 'Use it in this tab' }).click();
}

export interface Act {
  /** What is ticked in the dialog. */
  readonly tick?: string;
}

/** Presses a button of a machine's page and confirms; where a name is to be typed, a wrong one first is refused. */
export async function act(page: Page, title: string, name: string, { tick }: Act = {}): Promise<void> {
  await page.getByRole('button', { name: title, exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  const yes = dialog.locator('button[type="submit"]');
  const field = dialog.getByRole('textbox');
  const isTyped = actions.find((action) => action.title === title)?.isTyped === true;
  expect(await field.count()).toBe(isTyped ? 1 : 0);
  if (isTyped) {
    await field.fill(`${name}x`);
    expect(await yes.isDisabled()).toBe(true);
    await field.fill(name);
  }
  if (tick) await dialog.getByLabel(tick).check();
  await yes.click();
}

export const stateOf = (page: Page) => page.locator('h1 .state');

/** Every state that the page of a machine shows from now on is kept in the page: a reload would lose them. */
export const rememberStates = (page: Page): Promise<unknown> =>
  page.evaluate(`{
    const look = () => {
      const state = document.querySelector('h1 .state')?.textContent;
      if (state && globalThis.seenStates.at(-1) !== state) globalThis.seenStates.push(state);
    };
    globalThis.seenStates = [];
    look();
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  }`);

export const seenStates = async (page: Page): Promise<string[]> =>
  (await page.evaluate('globalThis.seenStates')) as string[];
