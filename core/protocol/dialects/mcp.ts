import { z } from "zod"

/** One JSON-RPC message of the Model Context Protocol. What it asks for is read by the protocol's own library. */
export const McpMessage = z.looseObject({ jsonrpc: z.literal("2.0") })
export type McpMessage = z.infer<typeof McpMessage>
