import type { JSONRPCMessage } from "@modelcontextprotocol/client"
import { declaresHeaders } from "../definition/declared-headers.ts"
import { isFields, isToolName } from "../definition/tool-facts.ts"

/** Tools of one page of a list, and parts of one result: more than anybody could look through. */
const MAX_TOOLS = 200
const MAX_PARTS = 1000

/**
 * A message with no more in it than is looked at. A library checks all of what it is given: four megabytes hold a million of
 * the smallest things, and a sentence about each that is wrong. It also prints what is wrong with the headers of a tool.
 */
export function boundedMessage(message: JSONRPCMessage): JSONRPCMessage {
  if (!("result" in message)) return message
  const { tools, content } = message.result
  if (!isLong(tools, 0) && !isLong(content, MAX_PARTS)) return message
  const result = {
    ...message.result,
    ...(isLong(tools, 0) ? { tools: tools.filter(isNamed).slice(0, MAX_TOOLS).filter(hasHeaders) } : {}),
    ...(isLong(content, MAX_PARTS) ? { content: content.slice(0, MAX_PARTS) } : {}),
  }
  return { ...message, result }
}

const isLong = (list: unknown, most: number): list is unknown[] => Array.isArray(list) && list.length > most

const isNamed = (tool: unknown): tool is Record<string, unknown> => isFields(tool) && isToolName(tool.name)

const hasHeaders = ({ inputSchema }: Record<string, unknown>): boolean => declaresHeaders(inputSchema)
