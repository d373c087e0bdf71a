import { lifecyclePage } from './lifecycle.ts';

/** Every file that is made from the code, relative to the project, and how. */
export const generatedFiles: readonly { readonly file: string; readonly text: () => string }[] = [
  { file: 'docs/lifecycle.md', text: lifecyclePage },
];
