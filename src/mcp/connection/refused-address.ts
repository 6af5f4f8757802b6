import { AppError } from "../../protocol/errors.ts"

/** How often a library wraps what a request has thrown: more than any does. */
const MAX_DEPTH = 5

/**
 * That we do not go to the address of a server, somewhere within what a library has thrown: no server has failed, the address
 * is one that a person has to change, and nothing was sent. One of ours: a server could give an error of its own the same code.
 */
export function refusedAddress(error: unknown): AppError | undefined {
  for (let each = error, depth = 0; each instanceof Error && depth < MAX_DEPTH; each = each.cause, depth++)
    if (each instanceof AppError && each.code === "host_not_allowed") return each
  return undefined
}
