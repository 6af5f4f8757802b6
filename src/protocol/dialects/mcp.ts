import { z } from "zod"
import { lazily } from "../lazily.ts"

/** One JSON-RPC message of the Model Context Protocol. What it asks for is read by the protocol's own library. */
export const McpMessage = lazily(() => z.looseObject({ jsonrpc: z.literal("2.0") }))
export type McpMessage = z.infer<typeof McpMessage>
