import { always, calls, says, scripted } from "pawl/testing"
import { guideReply } from "./script.ts"

export const model = scripted(
  always(({ history }) => {
    const messages = history.map((turn) => ({
      ...(turn.role === "user" ? { user: turn.text } : {}),
      isReply: turn.role === "assistant",
    }))
    const reply = guideReply(messages)
    return "text" in reply ? says(reply.text, { chunks: 3 }) : calls(reply.call, { ...reply.input })
  }),
)
