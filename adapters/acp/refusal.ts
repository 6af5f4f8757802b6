import { RequestError } from "@agentclientprotocol/sdk"
import { ClientError } from "../../client/client-error.ts"
import { AppError } from "../../core/protocol/errors.ts"

const INVALID_PARAMS = -32602
const INTERNAL = -32603
const NOT_FOUND = -32002
const SIGN_IN = -32000

/** Converts an error to one of the protocol, with our text and code. Unexpected errors reveal nothing else. */
export function toRefusal(error: unknown): Error {
  if (error instanceof RequestError) return error
  if (!isKnown(error))
    return new RequestError(INTERNAL, error instanceof Error ? error.message : "Something went wrong in Pawl.")
  const { code, message } = error
  return new RequestError(numberOf(error), message, { code })
}

/** Whether the error is unexpected and must be logged. */
export const isUnknown = (error: unknown): boolean => !(error instanceof RequestError) && !isKnown(error)

const isKnown = (error: unknown): error is ClientError | AppError =>
  error instanceof ClientError || error instanceof AppError

function numberOf(error: ClientError | AppError): number {
  if (error.code === "not_found") return NOT_FOUND
  if (error.code === "unauthenticated") return SIGN_IN
  const status = error instanceof ClientError ? error.status : 400
  return status >= 400 && status < 500 ? INVALID_PARAMS : INTERNAL
}

/** An error for an invalid request of the editor. */
export const refuseRequest = (sentence: string): Error => new RequestError(INVALID_PARAMS, sentence)
