"use client"
import { useEffect, useState } from "react"
import { Chat } from "./chat.tsx"
import { describeError, readChat, type StoredChat } from "./stored-chat.ts"

/** Any name of up to 200 characters, private to the user: here each user has one chat. */
const CHAT = "example"

/** Loads the stored messages, then shows the chat. */
export default function Page() {
  const [stored, setStored] = useState<StoredChat>()
  const [problem, setProblem] = useState("")
  useEffect(() => {
    readChat(CHAT).then(setStored, (error: Error) => setProblem(describeError(error)))
  }, [])
  if (stored) return <Chat id={CHAT} stored={stored} />
  return <output role="alert">{problem}</output>
}
