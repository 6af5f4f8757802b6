import { Download, Upload } from "../icons/arrows.ts"
import { PackageMinus, PackagePlus } from "../icons/things.ts"
import { useRef } from "react"
import { attempt } from "../parts/explain.ts"
import { MenuItem, MenuLine, MoreMenu } from "../parts/menu.tsx"
import { saveFile } from "../parts/save-file.ts"
import { client } from "../state/client.ts"
import { FileInput } from "./import-button.tsx"
import { loadSample, removeSample } from "./sample.ts"

/** What can be done with the workspace as a whole. */
export function WorkspaceMenu() {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <MoreMenu label="More for the workspace">
        <MenuItem icon={<Download />} onSelect={() => void attempt(exportFile)}>
          Export as JSON
        </MenuItem>
        <MenuItem icon={<Upload />} onSelect={() => input.current?.click()}>
          Import a file
        </MenuItem>
        <MenuLine />
        <MenuItem icon={<PackagePlus />} onSelect={() => void attempt(loadSample)}>
          Load the sample
        </MenuItem>
        <MenuItem icon={<PackageMinus />} onSelect={() => void attempt(removeSample)}>
          Take the sample out
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
