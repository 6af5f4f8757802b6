import { ArrowUp } from "../components/icons.tsx"
import { type ReactNode, useState } from "react"
import { type Mode, type ReplySettings, withSettings } from "../../../core/protocol/index.ts"
import { connectSample, isSample, useConnections } from "../state/connections.ts"
import { attempt } from "../components/explain.ts"
import { Link } from "../components/button.tsx"
import { Plain } from "../components/plain.tsx"
import { titleOf } from "../../../client/index.ts"
import { PageHeader } from "../shell/page-header.tsx"
import { catalogue, suggestModel } from "../state/catalogue.ts"
import { client } from "../state/client.ts"
import { outbox, sendMessage } from "../state/outbox.ts"
import { currentPath } from "../state/router.ts"
import { useStore } from "../state/store.ts"
import { AgentCards } from "./agent-cards.tsx"
import { ComposerBox, RoundButton } from "./composer/composer.tsx"
import { asksDatabases, ConnectionPicker } from "./composer/connection-picker.tsx"
import { ConnectModel, FirstDatabase, NoFolder, useFolder } from "./first-steps.tsx"
import { readDraft, restored, saveDraft } from "./composer/draft.ts"
import { clear, useFiles } from "./composer/files.tsx"
import { ModelPicker } from "./composer/model-picker.tsx"
import { AgentPicker, ModePicker } from "./composer/pickers.tsx"
import { useSend } from "./composer/use-send.tsx"
import { SettingsPicker } from "./reply-settings/settings-picker.tsx"
import { NEW_DRAFT, SendingRow } from "./messages/sending-row.tsx"
import { rich, t } from "../strings/strings.ts"

/** The agent whose tools run where a folder is. */
const FILES = "files"

interface Chosen {
  readonly agent?: string
  readonly model?: string
  readonly mode?: Mode
  readonly settings?: ReplySettings
  /** Null if the person wants none. */
  readonly connectionId?: string | null
}

/** Creates a conversation with its first message, or with an example of an agent. */
export function NewConversationPage() {
  // A restored message is in the draft, which is read when the field is created.
  return <Beginnings key={useStore(restored)} />
}

function Beginnings() {
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

  const files = useFiles(NEW_DRAFT, (made) => {
    const analyst = agents.find((each) => asksDatabases(each.name))
    setChosen({ ...chosen, connectionId: made, ...(analyst ? { agent: analyst.name } : {}) })
  })
  const begin = (words: string, by: Chosen) => {
    const place = by.agent === FILES && folder ? ({ site: "device", deviceId: folder } as const) : {}
    sendMessage(
      { beginning: { ...by, ...place, title: titleOf(words), connectionId: by.connectionId ?? null } as never },
      words,
      "queue",
      files.kept,
    )
    clear(files)
  }
  const mayBegin = text.trim() !== "" && isReady
  const chooseModel = async (next: string) => {
    setChosen({ ...chosen, model: next })
    await client.chooseDefaultModel({ body: { name: next } })
    suggestModel(next)
  }
  const { send, note } = useSend({
    ...{ files, isReady: mayBegin, model: chosen.model, onChooseModel: chooseModel },
    mode: chosen.mode ?? "confirm",
    onSend() {
      if (!mayBegin) return
      begin(text, { ...chosen, ...(isAnalyst ? { connectionId } : {}) })
      setText("")
      saveDraft(NEW_DRAFT, "")
    },
  })
  /** The examples of an agent for databases are about the sample database. */
  const sendExample = async (to: string, words: string) => {
    if (isSent || isBeingSent(words)) return
    if (!asksDatabases(to)) return begin(words, { ...chosen, agent: to })
    setSent(true)
    await attempt(async () => {
      const sample = databases?.find(isSample) ?? (await connectSample())
      begin(words, { ...chosen, agent: to, connectionId: sample.id })
    })
    setSent(false)
  }

  // The examples do not fit the person's own database.
  const isOwn = databases !== undefined && databases.length > 0 && !databases.some(isSample)
  const own = databases?.find(({ id }) => id === connectionId) ?? databases?.[0]
  return (
    <>
      <PageHeader title="Pawl" />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto flex min-h-full w-full max-w-3xl flex-col justify-center px-4 pb-10 md:px-6">
          <h2 className="mb-6 font-serif text-[2rem] leading-tight tracking-tight text-balance">
            {t("conversation.whatToDo")}
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
            placeholder={t("conversation.placeholder")}
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
                  onChoose={(next) => void attempt(() => chooseModel(next))}
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
            <RoundButton label={t("conversation.send")} disabled={!mayBegin} onClick={() => send("queue")}>
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
              onSay={(to, words) => void sendExample(to, words)}
              instead={{
                ...(folder === null ? { [FILES]: <NoFolder /> } : {}),
                ...(isOwn && own ? { analyst: <AskOwn name={own.name} onAsk={() => choose("analyst")} /> } : {}),
              }}
              below={{
                analyst: !isOwn && (
                  <>
                    {rich("conversation.aboutSample", {
                      link: (inner) => <Aside to="/settings/connections">{inner}</Aside>,
                    })}
                  </>
                ),
                research: <Aside to="/library">{t("conversation.ownDocuments")}</Aside>,
                [FILES]: folder ? rich("conversation.inFolder", { device: <Plain text={folder} /> }) : undefined,
              }}
            />
          )}
          {known && <ConnectModel models={known.models} chosen={chosen.model} />}
        </div>
      </div>
    </>
  )
}

/**
 * True from the first click until the page of the new conversation is drawn, so that a double click sends once: while
 * the message is being sent, and while this page is still visible although the address has changed.
 */
const isBeingSent = (words: string): boolean =>
  currentPath() !== "/" ||
  outbox.value.some(
    ({ beginning, text, state }) =>
      beginning !== null && text === words && (state === "sending" || state === "waiting"),
  )

function AskOwn({ name, onAsk }: { readonly name: string; readonly onAsk: () => void }) {
  return (
    <button type="button" onClick={onAsk} className="mt-1 rounded-lg px-2.5 py-1.5 text-left text-sm hover:bg-sunken">
      {rich("conversation.askAbout", { name: <Plain text={name} /> })}
    </button>
  )
}

const Aside = ({ to, children }: { readonly to: string; readonly children: ReactNode }) => (
  <Link to={to} className="text-accent underline underline-offset-2">
    {children}
  </Link>
)
