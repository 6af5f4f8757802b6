import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"

/** What would be published of these sources, in a folder: its command. */
export async function buildPackage(folder: string): Promise<string> {
  const script = join(import.meta.dirname, "..", "..", "test", "support", "processes", "build-package.ts")
  await promisify(execFile)(process.execPath, [script, folder])
  return join(folder, "bin", "pawl.js")
}
