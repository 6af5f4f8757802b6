/** The environment of a process that may wait for nothing that takes a second or more: then it never comes. */
export const waitsForNothing: Readonly<Record<string, string>> = {
  NODE_OPTIONS: `--import=${new URL("./long-waits-never-end.ts", import.meta.url).href}`,
}
