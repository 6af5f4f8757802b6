import type { Config } from "./config.ts"

/** Tells the person what is odd about the settings, where it disturbs no output. */
export function warn({ warnings }: Pick<Config, "warnings">): void {
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`)
}
