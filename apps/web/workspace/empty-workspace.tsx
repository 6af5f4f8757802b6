import { type ReactNode, useRef, useState } from "react"
import { hasCode } from "../../../client/index.ts"
import type { RowCounts } from "../../../core/protocol/index.ts"
import { Download, PackageMinus, PackagePlus, Upload } from "../components/icons.tsx"
import { Button } from "../components/button.tsx"
import { attempt } from "../components/explain.ts"
import { MenuItem, MenuLine, MoreMenu } from "../components/menu.tsx"
import { saveFile } from "../components/file-chip.tsx"
import { LoadProblem } from "../components/use-loaded.tsx"
import { client } from "../state/client.ts"
import { toast } from "../state/toasts.ts"
import { readOutdated, readWithoutFeed } from "../state/workspace.ts"
import { t } from "../strings/strings.ts"
import { zoneName } from "./due.tsx"

interface EmptyWorkspaceProps {
  readonly title: string
  readonly hint: string
  readonly children?: ReactNode
}

/** An empty page of the workspace, which shows how to start. */
export function EmptyWorkspace({ title, hint, children }: EmptyWorkspaceProps) {
  const [isSent, setSent] = useState(false)
  return (
    <div className="grid min-h-0 flex-1 place-items-center overflow-y-auto p-6">
      <div className="w-full max-w-md">
        <h2 className="mb-2 font-serif text-2xl">{title}</h2>
        <p className="mb-5 text-soft">{hint}</p>
        {children}
        <div className="mt-6 rounded-xl bg-sunken px-4 py-3 text-sm">
          <p className="mb-3 text-soft">{t("workspace.emptyHint")}</p>
          <div className="flex flex-wrap gap-2">
            <Button
              disabled={isSent}
              onClick={() => {
                setSent(true)
                void attempt(loadSample).then(() => setSent(false))
              }}
            >
              {t("workspace.loadSample")}
            </Button>
            <ImportButton />
          </div>
        </div>
      </div>
    </div>
  )
}

/** Export, import and sample data of the workspace. */
export function WorkspaceMenu() {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <MoreMenu label={t("workspace.more")}>
        <MenuItem icon={<Download />} onSelect={() => void attempt(exportFile)}>
          {t("workspace.exportJson")}
        </MenuItem>
        <MenuItem icon={<Upload />} onSelect={() => input.current?.click()}>
          {t("workspace.importFile")}
        </MenuItem>
        <MenuLine />
        <MenuItem icon={<PackagePlus />} onSelect={() => void attempt(loadSample)}>
          {t("workspace.loadSample")}
        </MenuItem>
        <MenuItem icon={<PackageMinus />} onSelect={() => void attempt(removeSample)}>
          {t("workspace.removeSample")}
        </MenuItem>
      </MoreMenu>
      <FileInput ref={input} />
    </>
  )
}

async function exportFile(): Promise<void> {
  const name = `workspace-${new Date().toISOString().slice(0, 10)}.json`
  await saveFile(name, JSON.stringify(await client.exportWorkspace()))
}

function ImportButton() {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button onClick={() => input.current?.click()}>{t("workspace.importFile")}</Button>
      <FileInput ref={input} />
    </>
  )
}

/** The browser's file chooser, opened by a button of the page. */
function FileInput({ ref }: { readonly ref: React.Ref<HTMLInputElement> }) {
  return (
    <input
      ref={ref}
      type="file"
      accept="application/json,.json"
      aria-label={t("workspace.file")}
      className="hidden"
      onChange={(event) => {
        const file = event.target.files?.[0]
        event.target.value = "" // the same file may be chosen again
        if (file) void attempt(() => importFile(file))
      }}
    />
  )
}

/** Adds the sample data. */
async function loadSample(): Promise<void> {
  try {
    const added = await client.loadSample({ query: { timeZone: zoneName() } })
    toast(t("workspace.sampleAdded", { count: totalOf(added) }))
  } catch (error) {
    if (!hasCode(error, "sample_loaded")) throw error
    toast(t("workspace.sampleLoaded"))
  }
  await readWithoutFeed()
}

async function removeSample(): Promise<void> {
  const { removed, left } = await client.removeSample()
  const total = totalOf(removed)
  if (total + left.length === 0) toast(t("workspace.sampleMissing"))
  else if (left.length === 0) toast(t("workspace.sampleRemoved", { count: total }))
  else toast(t("workspace.sampleKept", { removed: total, kept: left.length }))
  await readWithoutFeed()
}

/** Imports a file that was exported from a workspace. */
async function importFile(file: File): Promise<void> {
  let body: object
  try {
    body = JSON.parse(await file.text()) as object
  } catch {
    return toast(t("workspace.importInvalid"), "bad")
  }
  const added = await client.importWorkspace({ body })
  toast(t("workspace.importDone", { count: totalOf(added) }))
  await readWithoutFeed()
}

const totalOf = (counts: RowCounts): number => Object.values(counts).reduce((sum, number) => sum + number, 0)

/** Why the workspace could not be read, with a button to retry. */
export const ReadProblem = ({ problem }: { readonly problem: unknown }) => (
  <LoadProblem problem={problem} onRetry={readOutdated} className="mx-3 md:mx-5" />
)
