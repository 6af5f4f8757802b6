import { z } from "zod"

/** One JSON-RPC message of the Model Context Protocol. The protocol's own library validates its content. */
export const McpMessage = z.looseObject({ jsonrpc: z.literal("2.0") })
export type McpMessage = z.infer<typeof McpMessage>
