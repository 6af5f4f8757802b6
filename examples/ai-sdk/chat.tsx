import { useChat } from "@ai-sdk/react"
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from "ai"
import { useMemo, useState } from "react"
import { Message } from "./message.tsx"
import { headersOf, readChat, stopRun, type ToldChat, wordsOf } from "./pawl.ts"

interface ChatProps {
  readonly id: string
  readonly token: string
  /** What was said before the page was loaded. */
  readonly told: ToldChat
}

/** What this page can do itself, and the model may ask for. */
const tools = {
  set_theme: {
    description: "Sets the colours of the page that the person looks at.",
    inputSchema: { type: "object", properties: { theme: { enum: ["light", "dark"] } }, required: ["theme"] },
  },
}

function setTheme({ theme }: { readonly theme?: string }): { readonly theme: string } {
  return { theme: (document.documentElement.dataset.theme = theme === "dark" ? "dark" : "light") }
}

/** A chat with the workspace's agent: words, tools, approvals, a stop that stops, and a reload that resumes. */
export function Chat({ id, token, told }: ChatProps) {
  const [words, setWords] = useState("")
  const [before, setBefore] = useState(told.nextCursor)
  const transport = useMemo(
    () =>
      new DefaultChatTransport({
        api: "/ai-sdk",
        headers: headersOf(token),
        body: { agent: "workspace", tools },
        // The server knows what was said: the last message is enough.
        prepareSendMessagesRequest: ({ id, messages, trigger, messageId, body }) => ({
          body: { ...body, id, messages: messages.slice(-1), trigger, messageId },
        }),
      }),
    [token],
  )
  const chat = useChat({
    ...{ id, messages: told.messages, transport, resume: true },
    sendAutomaticallyWhen: (options) =>
      lastAssistantMessageIsCompleteWithToolCalls(options) ||
      lastAssistantMessageIsCompleteWithApprovalResponses(options),
    // The agent's own calls are told here too.
    onToolCall: ({ toolCall: { toolName, toolCallId, input } }) => {
      if (!Object.hasOwn(tools, toolName)) return
      void chat.addToolOutput({ tool: toolName, toolCallId, output: setTheme(input as { theme?: string }) })
    },
  })
  const { messages, sendMessage, status, error } = chat
  const isBusy = status === "submitted" || status === "streaming"

  const readEarlier = async (cursor: string) => {
    const earlier = await readChat(id, token, cursor)
    setBefore(earlier.nextCursor)
    chat.setMessages((shown) => [...earlier.messages, ...shown])
  }
  /** Words that may not have arrived are sent again, and are said once; an answer that broke off is told anew. */
  const tryAgain = () => (messages.at(-1)?.role === "user" ? sendMessage() : chat.resumeStream())

  return (
    <main data-status={status}>
      {before !== null && <button onClick={() => void readEarlier(before)}>Earlier</button>}
      {messages.map((message) => (
        <Message
          key={message.id}
          message={message}
          decide={(approvalId, approved) => void chat.addToolApprovalResponse({ id: approvalId, approved })}
        />
      ))}
      {error && (
        <output role="alert">
          {wordsOf(error)} <button onClick={() => void tryAgain()}>Try again</button>
        </output>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void sendMessage({ text: words })
          setWords("")
        }}
      >
        <input
          aria-label="Message"
          placeholder="add a task: buy milk"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        {isBusy ? (
          <button type="button" onClick={() => void stopRun(id, token, messages.at(-1))}>
            Stop
          </button>
        ) : (
          <button disabled={words.trim() === ""}>Send</button>
        )}
      </form>
    </main>
  )
}
