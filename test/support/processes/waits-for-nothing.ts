/** The environment of a process whose timers of a second or more never fire. */
export const waitsForNothing: Readonly<Record<string, string>> = {
  NODE_OPTIONS: `--import=${new URL("./long-waits-never-end.ts", import.meta.url).href}`,
}
