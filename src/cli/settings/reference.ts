import type { Setting, SettingTable } from "./setting.ts"
import { settingSections } from "./table.ts"

const FOREWORD = `# Settings

Pawl is set by variables of the environment, all of them here; \`pawl help settings\` prints the same at a terminal. Blank is
absent. A bad value is refused at the start with what is allowed; a name with \`PAWL_\` that is none of these is a warning.
`

/** docs/settings.md, from the table that also validates. */
export function settingsPage(): string {
  const sections = Object.entries<SettingTable>(settingSections).map(([title, settings]) => {
    const rows = Object.entries(settings).map(([name, setting]) => {
      const also = setting.also ? `<br>or \`${setting.also}\`` : ""
      return `| \`${name}\`${also} | ${sentence(setting)} | ${cell(setting.kind.allowed)} | ${cell(withoutIt(setting))} |`
    })
    return [`\n## ${title}\n`, "| variable | what it does | may be | without it |", "|---|---|---|---|", ...rows].join(
      "\n",
    )
  })
  return `${FOREWORD}${sections.join("\n")}\n`
}

/** The same for a terminal. */
export function settingsHelp(): string {
  const sections = Object.entries<SettingTable>(settingSections).map(([title, settings]) => {
    const lines = Object.entries(settings).map(([name, setting]) => {
      const words = `${sentence(setting)} May be: ${setting.kind.allowed}. Without it: ${withoutIt(setting)}.`
      return `  ${name}\n      ${words.replaceAll("`", "")}`
    })
    return `${title}\n\n${lines.join("\n")}`
  })
  return `Variables of the environment that Pawl reads.\n\n${sections.join("\n\n")}\n`
}

const sentence = ({ says, secretsIn }: Setting<unknown>): string => (secretsIn ? `${says} Never printed.` : says)

function withoutIt({ usually, usuallyInWords }: Setting<unknown>): string {
  if (usuallyInWords !== undefined) return usuallyInWords
  if (usually === undefined || (Array.isArray(usually) && usually.length === 0)) return "none"
  return `\`${typeof usually === "boolean" ? (usually ? "on" : "off") : String(usually)}\``
}

const cell = (text: string) => text.replaceAll("|", "\\|")
