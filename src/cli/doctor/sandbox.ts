import { tmpdir } from "node:os"
import { join } from "node:path"
import { findSandbox } from "../../packs/files/sandbox/sandbox.ts"
import type { Config } from "../settings/config.ts"
import type { Finding } from "./finding.ts"

/** What commands of the agent `files`, and MCP servers that are programs, would run in here. */
export function examineSandbox({
  commandEnvironment,
  dataFolder,
}: Pick<Config, "commandEnvironment" | "dataFolder">): Finding {
  const root = join(tmpdir(), "pawl-doctor") // only its name counts: nothing is run in it
  const place = { root, home: commandEnvironment.HOME ?? tmpdir(), hidden: [], homes: dataFolder, id: "doctor" }
  const { holds, says } = findSandbox({ searchPath: commandEnvironment.PATH ?? "", ...place })
  if (holds) return ["ok", "sandbox: bubblewrap works here"]
  return ["note", `sandbox: a command would run ${says}; install bubblewrap and allow user namespaces`]
}
