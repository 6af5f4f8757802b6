import { useChat } from "@ai-sdk/react"
import {
  DefaultChatTransport,
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from "ai"
import { useMemo, useState } from "react"

interface ChatProps {
  readonly id: string
  readonly token: string
  /** What was said before the page was loaded: `messages` of GET /ai-sdk/{id}. */
  readonly messages: UIMessage[]
}

/** A chat with the workspace's agent: words, tools, approvals, a stop that stops, and a reload that resumes. */
export function Chat({ id, token, messages: before }: ChatProps) {
  const [words, setWords] = useState("")
  const headers = { authorization: `Bearer ${token}` }
  const transport = useMemo(
    () =>
      new DefaultChatTransport({
        api: "/ai-sdk",
        headers: { authorization: `Bearer ${token}` },
        body: { agent: "workspace" },
        // The server knows what was said: the last message is enough.
        prepareSendMessagesRequest: ({ id, messages, trigger, messageId, body }) => ({
          body: { ...body, id, messages: messages.slice(-1), trigger, messageId },
        }),
      }),
    [token],
  )
  const { messages, sendMessage, addToolApprovalResponse, stop, status, error } = useChat({
    id,
    messages: before,
    transport,
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })

  const stopRun = async () => {
    const last = messages.at(-1)
    const activeStreamId = last?.role === "assistant" ? last.id : undefined
    await fetch(`/ai-sdk/${encodeURIComponent(id)}/stop`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ activeStreamId }),
    })
    await stop()
  }

  return (
    <main data-status={status}>
      {messages.map(({ id: messageId, role, parts }) => (
        <article key={messageId} data-role={role}>
          {parts.map((part, index) => {
            if (part.type === "text") return <p key={index}>{part.text}</p>
            if (part.type === "reasoning") return <blockquote key={index}>{part.text}</blockquote>
            if (part.type === "data-table" || part.type === "data-chart")
              return <pre key={index}>{JSON.stringify(part.data, undefined, 2)}</pre>
            if (!isToolUIPart(part)) return null
            if (part.state !== "approval-requested")
              return <code key={index}>{`${getToolName(part)}: ${part.state}`}</code>
            const { id: approvalId, requestReason } = part.approval
            return (
              <fieldset key={index}>
                <legend>{requestReason}</legend>
                <button onClick={() => void addToolApprovalResponse({ id: approvalId, approved: true })}>Agree</button>
                <button onClick={() => void addToolApprovalResponse({ id: approvalId, approved: false })}>
                  Refuse
                </button>
              </fieldset>
            )
          })}
        </article>
      ))}
      {error && <output role="alert">{error.message}</output>}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void sendMessage({ text: words })
          setWords("")
        }}
      >
        <input aria-label="Message" value={words} onChange={(event) => setWords(event.target.value)} />
        <button disabled={words.trim() === ""}>Send</button>
        {status === "streaming" && (
          <button type="button" onClick={() => void stopRun()}>
            Stop
          </button>
        )}
      </form>
    </main>
  )
}
