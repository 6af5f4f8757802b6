import { serveText } from "../../strings/serve.ts"
import type { Config } from "./config.ts"

/** Prints the warnings about the settings on stderr. */
export function warn({ warnings }: Pick<Config, "warnings">): void {
  for (const warning of warnings) process.stderr.write(serveText.warning(warning))
}

/** Reports where data is stored, if the person did not name the folder. On stderr, so that it disturbs no output. */
export function reportData(config: Pick<Config, "usesUsualDataFolder" | "dataFolder">): void {
  if (config.usesUsualDataFolder) process.stderr.write(serveText.dataFolder(config.dataFolder))
}
