import { always, calls, says, scripted } from "pawl/testing"
import { guideReply } from "./script.ts"

export const model = scripted(
  always(({ history }) => {
    const [first] = history
    const reply = guideReply(
      first?.role === "user" ? first.text : "",
      history.filter(({ role }) => role === "assistant").length,
    )
    return "text" in reply ? says(reply.text, { chunks: 3 }) : calls(reply.call, reply.input as Record<string, unknown>)
  }),
)
