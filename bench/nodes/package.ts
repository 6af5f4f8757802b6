import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"

/** Builds the package that would be published into a folder; returns its command. */
export async function buildPackage(folder: string): Promise<string> {
  const script = join(import.meta.dirname, "..", "..", "test", "support", "processes", "build-package.ts")
  await promisify(execFile)(process.execPath, [script, folder])
  return join(folder, "bin", "pawl.js")
}
