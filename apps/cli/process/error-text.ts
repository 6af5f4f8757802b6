import { SettingsError } from "../../../core/compose/settings.ts"
import { AppError } from "../../../core/protocol/errors.ts"
import { connectionText } from "../../strings/serve.ts"
import { systemReason } from "../../../core/shared/text/system-errors.ts"
import { usageText } from "../../strings/usage.ts"
import { CommandError } from "./command.ts"

/**
 * An error of Pawl, of a server or of the system as a sentence for people. Undefined for a bug, which needs its stack.
 */
export async function errorText(error: unknown): Promise<string | undefined> {
  const { endReason } = await import("../../../core/store/engine/store-failure.ts")
  const reason = endReason(error)
  if (reason !== undefined) return reason
  const { name, path } = error as { name?: string; path?: string }
  if (name === "ClientError") return clientErrorText(error as Error)
  if (error instanceof CommandError || error instanceof SettingsError || error instanceof AppError) return error.message
  // Matched by name, so that commands without a store do not load it.
  if (name === "SchemaVersionError") return (error as Error).message
  const system = systemReason(error)
  return system === undefined ? undefined : usageText.failed(system, path)
}

/** Translates an error of a server for a shell: the sentences of the API name routes and headers. */
export function clientErrorText({ code, message, cause }: Error & { readonly code?: string }): string {
  switch (code) {
    case "unreachable":
      return connectionText.unreachable(systemReason(cause))
    case "unexpected_answer":
      return connectionText.notPawl
    case "unauthenticated":
      return connectionText.refused
    default:
      return message
  }
}
