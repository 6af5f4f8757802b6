import { ArrowUp } from "lucide-react"
import { useState } from "react"
import type { Mode } from "../../src/protocol/index.ts"
import { isSample } from "../connections/sample.ts"
import { attempt } from "../parts/explain.ts"
import { Plain } from "../parts/plain.tsx"
import { titleOf } from "../parts/words.ts"
import { PageHeader } from "../shell/page-header.tsx"
import { useShell } from "../shell/shell-context.ts"
import { catalogue } from "../state/catalogue.ts"
import { client } from "../state/client.ts"
import { useConnections } from "../state/connections.ts"
import { acquire, release } from "../state/conversation.ts"
import { navigate } from "../state/router.ts"
import { useStore } from "../state/store.ts"
import { ComposerBox, RoundButton } from "./composer.tsx"
import { asksDatabases, ConnectionPicker } from "./connection-picker.tsx"
import { ConnectModel } from "./connect-model.tsx"
import { readDraft, saveDraft } from "./draft.ts"
import { Examples } from "./examples.tsx"
import { FirstDatabase } from "./first-database.tsx"
import { AgentPicker, ModelPicker, ModePicker } from "./pickers.tsx"

const DRAFT = "new"

interface Chosen {
  readonly agent?: string
  readonly model?: string
  readonly mode?: Mode
  /** Null where the person wants none. */
  readonly connectionId?: string | null
}

/** Where a conversation begins: with its first words, or with an example of what can be said. */
export function NewPage() {
  const { name } = useShell().identity.user
  const known = useStore(catalogue)
  const [text, setText] = useState(() => readDraft(DRAFT))
  const [chosen, setChosen] = useState<Chosen>({})
  const [isSent, setSent] = useState(false)
  const agent = chosen.agent ?? known?.agents[0]?.name
  const isAnalyst = asksDatabases(agent)
  const { items: databases } = useConnections(isAnalyst)
  const connectionId = chosen.connectionId === undefined ? (databases?.[0]?.id ?? null) : chosen.connectionId
  // What its tools name as examples is about the sample; of somebody's own database only they know what can be asked.
  const hasExamples = !isAnalyst || isSample(databases?.find(({ id }) => id === connectionId))

  const begin = async (words: string) => {
    if (words.trim() === "" || isSent) return
    setSent(true)
    await attempt(async () => {
      const { id } = await client.createConversation({
        body: { ...chosen, title: titleOf(words), connectionId: isAnalyst ? connectionId : null },
      })
      saveDraft(DRAFT, "")
      const conversation = acquire(id)
      navigate(`/c/${id}`)
      // Held until its page holds it.
      setTimeout(() => release(id), 1000)
      await conversation.say(words)
    })
    setSent(false)
  }

  return (
    <>
      <PageHeader title="Pawl" />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto flex min-h-full w-full max-w-2xl flex-col justify-center px-4 pb-16 md:px-6">
          <h2 className="mb-6 font-serif text-[2rem] leading-tight tracking-tight text-balance">
            {greeting(new Date())}, <Plain text={name} />.
            <br />
            <span className="text-soft">What shall we do?</span>
          </h2>
          <ComposerBox
            text={text}
            onText={(next) => {
              setText(next)
              saveDraft(DRAFT, next)
            }}
            onSend={() => void begin(text)}
            placeholder="Ask, or say what to do …"
            pickers={
              <>
                <AgentPicker value={agent} onChoose={(next) => setChosen({ ...chosen, agent: next })} />
                {isAnalyst && (
                  <ConnectionPicker
                    side="top"
                    value={connectionId}
                    onChoose={(next) => setChosen({ ...chosen, connectionId: next })}
                  />
                )}
                <ModelPicker value={chosen.model} onChoose={(next) => setChosen({ ...chosen, model: next })} />
                <ModePicker
                  value={chosen.mode ?? "confirm"}
                  onChoose={(next) => setChosen({ ...chosen, mode: next })}
                />
              </>
            }
          >
            <RoundButton label="Send" disabled={text.trim() === "" || isSent} onClick={() => void begin(text)}>
              <ArrowUp className="size-4.5" />
            </RoundButton>
          </ComposerBox>
          {isAnalyst && databases?.length === 0 && (
            <FirstDatabase onMade={(made) => setChosen({ ...chosen, connectionId: made })} />
          )}
          {known && hasExamples && (
            <Examples tools={known.tools} agent={agent} onChoose={(words) => void begin(words)} />
          )}
          {known && <ConnectModel models={known.models} chosen={chosen.model} />}
        </div>
      </div>
    </>
  )
}

function greeting(now: Date): string {
  const hour = now.getHours()
  if (hour < 5) return "Good night"
  if (hour < 12) return "Good morning"
  return hour < 18 ? "Good afternoon" : "Good evening"
}
