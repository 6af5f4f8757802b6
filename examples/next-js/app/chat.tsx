"use client"
import { useChat } from "@ai-sdk/react"
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from "ai"
import { useMemo, useState } from "react"
import { Message } from "./message.tsx"
import { describeError, readChat, type StoredChat, stopRun } from "./stored-chat.ts"

interface ChatProps {
  readonly id: string
  /** The messages from before the page was loaded. */
  readonly stored: StoredChat
}

/** Tools that run in the page. The model may call them like the agent's own tools. */
const tools = {
  set_theme: {
    description: "Sets the colours of the page that the user sees.",
    inputSchema: { type: "object", properties: { theme: { enum: ["light", "dark"] } }, required: ["theme"] },
  },
}

function setTheme({ theme }: { readonly theme?: string }): { readonly theme: string } {
  return { theme: (document.documentElement.dataset.theme = theme === "dark" ? "dark" : "light") }
}

/** A chat with an agent: tools, approvals, stopping a run, and resuming it after a reload. */
export function Chat({ id, stored }: ChatProps) {
  const [text, setText] = useState("")
  const [before, setBefore] = useState(stored.nextCursor)
  const transport = useMemo(
    () =>
      new DefaultChatTransport({
        api: "/ai-sdk",
        body: { agent: "assistant", tools },
        // The server has the earlier messages: the last one is enough.
        prepareSendMessagesRequest: ({ id, messages, trigger, messageId, body }) => ({
          body: { ...body, id, messages: messages.slice(-1), trigger, messageId },
        }),
      }),
    [],
  )
  const chat = useChat({
    ...{ id, messages: stored.messages, transport, resume: true },
    sendAutomaticallyWhen: (options) =>
      lastAssistantMessageIsCompleteWithToolCalls(options) ||
      lastAssistantMessageIsCompleteWithApprovalResponses(options),
    // The agent's own tool calls are reported here, too.
    onToolCall: ({ toolCall: { toolName, toolCallId, input } }) => {
      if (!Object.hasOwn(tools, toolName)) return
      void chat.addToolOutput({ tool: toolName, toolCallId, output: setTheme(input as { theme?: string }) })
    },
  })
  const { messages, sendMessage, status, error } = chat
  const isBusy = status === "submitted" || status === "streaming"

  const readEarlier = async (cursor: string) => {
    const earlier = await readChat(id, cursor)
    setBefore(earlier.nextCursor)
    chat.setMessages((shown) => [...earlier.messages, ...shown])
  }
  /** Sends a message again that may not have arrived, which Pawl processes once, or reads an interrupted reply again. */
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
          {describeError(error)} <button onClick={() => void tryAgain()}>Try again</button>
        </output>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void sendMessage({ text })
          setText("")
        }}
      >
        <input
          aria-label="Message"
          placeholder="add a task: buy milk"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {isBusy ? (
          <button type="button" onClick={() => void stopRun(id, messages.at(-1))}>
            Stop
          </button>
        ) : (
          <button disabled={text.trim() === ""}>Send</button>
        )}
      </form>
    </main>
  )
}
