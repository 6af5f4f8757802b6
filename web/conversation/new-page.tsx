import { ArrowUp } from "../icons/arrows.ts"
import { useState } from "react"
import { type Mode, type ReplySettings, withSettings } from "../../src/protocol/index.ts"
import { connectSample, isSample } from "../connections/sample.ts"
import { attempt } from "../parts/explain.ts"
import { Link } from "../parts/link.tsx"
import { Plain } from "../parts/plain.tsx"
import { titleOf } from "../parts/words.ts"
import { PageHeader } from "../shell/page-header.tsx"
import { useShell } from "../shell/shell-context.ts"
import { catalogue } from "../state/catalogue.ts"
import { useConnections } from "../state/connections.ts"
import { outbox, say } from "../state/outbox.ts"
import { useStore } from "../state/store.ts"
import { AgentCards } from "./beginning/agent-cards.tsx"
import { ComposerBox, RoundButton } from "./composer/composer.tsx"
import { asksDatabases, ConnectionPicker } from "./composer/connection-picker.tsx"
import { ConnectModel } from "./beginning/connect-model.tsx"
import { readDraft, restored, saveDraft } from "./composer/draft.ts"
import { FirstDatabase } from "./beginning/first-database.tsx"
import { clear, useFiles } from "./composer/files.tsx"
import { ModelPicker } from "./composer/model-picker.tsx"
import { NoFolder } from "./beginning/no-folder.tsx"
import { AgentPicker, ModePicker } from "./composer/pickers.tsx"
import { useSend } from "./composer/use-send.tsx"
import { SettingsPicker } from "./reply-settings/settings-picker.tsx"
import { NEW_DRAFT, SendingRow } from "./messages/sending-row.tsx"
import { useFolder } from "./beginning/use-folder.ts"

/** The agent whose tools run where a folder is. */
const FILES = "files"

interface Chosen {
  readonly agent?: string
  readonly model?: string
  readonly mode?: Mode
  readonly settings?: ReplySettings
  /** Null where the person wants none. */
  readonly connectionId?: string | null
}

/** Where a conversation begins: with its first words, or with one of the first things that each agent names. */
export function NewPage() {
  // Words that were taken back are in the draft, which is read when the field is made.
  return <Beginnings key={useStore(restored)} />
}

function Beginnings() {
  const { name } = useShell().identity.user
  const known = useStore(catalogue)
  const waiting = useStore(outbox).filter(({ conversationId }) => conversationId === null)
  const [text, setText] = useState(() => readDraft(NEW_DRAFT))
  const [chosen, setChosen] = useState<Chosen>({})
  const [isSent, setSent] = useState(false)
  const agents = known?.agents ?? []
  const agent = chosen.agent ?? agents[0]?.name
  const isAnalyst = asksDatabases(agent)
  const { items: databases } = useConnections(agents.some((each) => asksDatabases(each.name)))
  const connectionId = chosen.connectionId === undefined ? (databases?.[0]?.id ?? null) : chosen.connectionId
  const folder = useFolder(agents.some((each) => each.name === FILES))
  const isReady = agent !== FILES || typeof folder === "string"
  const choose = (next: string) => {
    setChosen({ ...chosen, agent: next })
    document.getElementById("composer")?.focus()
  }

  const files = useFiles(NEW_DRAFT)
  const begin = (words: string, by: Chosen) => {
    const place = by.agent === FILES && folder ? ({ site: "device", deviceId: folder } as const) : {}
    say(
      { beginning: { ...by, ...place, title: titleOf(words), connectionId: by.connectionId ?? null } as never },
      words,
      "queue",
      files.kept,
    )
    clear(files)
  }
  const mayBegin = text.trim() !== "" && isReady
  const { send, note } = useSend(files, mayBegin, () => {
    if (!mayBegin) return
    begin(text, { ...chosen, ...(isAnalyst ? { connectionId } : {}) })
    setText("")
    saveDraft(NEW_DRAFT, "")
  })
  /** What an agent names as its first requests is about the sample, where it is about a database. */
  const sayFirst = async (to: string, words: string) => {
    if (isSent || isOnItsWay(words)) return
    if (!asksDatabases(to)) return begin(words, { ...chosen, agent: to })
    setSent(true)
    await attempt(async () => {
      const sample = databases?.find(isSample) ?? (await connectSample())
      begin(words, { ...chosen, agent: to, connectionId: sample.id })
    })
    setSent(false)
  }

  // Of somebody's own database only they know what can be asked.
  const isOwn = databases !== undefined && databases.length > 0 && !databases.some(isSample)
  const own = databases?.find(({ id }) => id === connectionId) ?? databases?.[0]
  return (
    <>
      <PageHeader title="Pawl" />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto flex min-h-full w-full max-w-3xl flex-col justify-center px-4 pb-10 md:px-6">
          <h2 className="mb-6 font-serif text-[2rem] leading-tight tracking-tight text-balance">
            {greeting(new Date())}, <Plain text={name} />.
            <br />
            <span className="text-soft">What shall we do?</span>
          </h2>
          <ComposerBox
            text={text}
            files={files}
            onText={(next) => {
              setText(next)
              saveDraft(NEW_DRAFT, next)
            }}
            note={note}
            onSend={() => send("queue")}
            placeholder="Ask, or say what to do …"
            pickers={
              <>
                <AgentPicker value={agent} onChoose={choose} />
                {isAnalyst && (
                  <ConnectionPicker
                    side="top"
                    value={connectionId}
                    onChoose={(next) => setChosen({ ...chosen, connectionId: next })}
                  />
                )}
                <ModelPicker
                  side="bottom"
                  value={chosen.model}
                  onChoose={(next) => setChosen({ ...chosen, model: next })}
                />
                <SettingsPicker
                  side="bottom"
                  settings={chosen.settings ?? {}}
                  model={chosen.model}
                  onChange={async (patch) =>
                    setChosen({ ...chosen, settings: withSettings(chosen.settings ?? {}, patch) })
                  }
                />
                <ModePicker
                  value={chosen.mode ?? "confirm"}
                  onChoose={(next) => setChosen({ ...chosen, mode: next })}
                />
              </>
            }
          >
            <RoundButton label="Send" disabled={!mayBegin} onClick={() => send("queue")}>
              <ArrowUp className="size-4.5" />
            </RoundButton>
          </ComposerBox>
          {waiting.map((sent) => (
            <SendingRow key={sent.key} sent={sent} />
          ))}
          {isAnalyst && databases?.length === 0 && (
            <FirstDatabase onMade={(made) => setChosen({ ...chosen, connectionId: made })} />
          )}
          {known && (
            <AgentCards
              agents={agents}
              chosen={agent}
              onChoose={choose}
              onSay={(to, words) => void sayFirst(to, words)}
              instead={{
                ...(folder === null ? { [FILES]: <NoFolder /> } : {}),
                ...(isOwn && own ? { analyst: <AskOwn name={own.name} onAsk={() => choose("analyst")} /> } : {}),
              }}
              below={{
                analyst: !isOwn && (
                  <>
                    These are about the sample database. <Aside to="/settings/connections">Connect your own</Aside>
                  </>
                ),
                research: <Aside to="/library">Bring your own documents</Aside>,
                [FILES]: folder ? (
                  <>
                    In the folder of <Plain text={folder} />.
                  </>
                ) : undefined,
              }}
            />
          )}
          {known && <ConnectModel models={known.models} chosen={chosen.model} />}
        </div>
      </div>
    </>
  )
}

/** A second click, before the conversation is there, says nothing a second time. */
const isOnItsWay = (words: string): boolean =>
  outbox.value.some(
    ({ conversationId, text, state }) =>
      conversationId === null && text === words && (state === "sending" || state === "waiting"),
  )

function AskOwn({ name, onAsk }: { readonly name: string; readonly onAsk: () => void }) {
  return (
    <button type="button" onClick={onAsk} className="mt-1 rounded-lg px-2.5 py-1.5 text-left text-sm hover:bg-sunken">
      Ask something about <Plain text={name} /> …
    </button>
  )
}

const Aside = ({ to, children }: { readonly to: string; readonly children: string }) => (
  <Link to={to} className="text-accent underline underline-offset-2">
    {children}
  </Link>
)

function greeting(now: Date): string {
  const hour = now.getHours()
  if (hour < 5) return "Good night"
  if (hour < 12) return "Good morning"
  return hour < 18 ? "Good afternoon" : "Good evening"
}
