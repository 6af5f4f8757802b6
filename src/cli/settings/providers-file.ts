import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import type { NamedEndpoint } from "../../models/providers/endpoints/named-endpoint.ts"
import { EndpointFault, readEndpoints } from "../../models/providers/endpoints/read-endpoints.ts"
import { CommandError } from "../process/command.ts"
import type { Environment } from "./setting.ts"

/** What the file of `PAWL_PROVIDERS` holds. A fault in it keeps Pawl from starting, and is told with its place. */
export function readProvidersFile(path: string, environment: Environment): readonly NamedEndpoint[] {
  const file = resolve(path)
  let text: string
  try {
    text = readFileSync(file, "utf8")
  } catch (error) {
    throw new CommandError(
      `PAWL_PROVIDERS names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`,
    )
  }
  try {
    return readEndpoints(text, environment)
  } catch (error) {
    if (error instanceof EndpointFault) throw new CommandError(`PAWL_PROVIDERS, ${file}: ${error.message}.`)
    throw error
  }
}
