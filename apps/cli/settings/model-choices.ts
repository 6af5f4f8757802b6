import { DEFAULT_LOCAL_SERVERS } from "../../../core/compose/settings.ts"
import { isThisMachine } from "../../../core/protocol/databases/connections.ts"
import { anyText, listOfItems, onOffOr } from "./kinds.ts"
import { setting } from "./setting.ts"

/** Settings about local model servers and fallbacks. */
const LOOPBACK = "http addresses of this machine, split by commas"

export const modelChoices = {
  PAWL_LOCAL_MODEL_SERVERS: setting(
    onOffOr(listOfItems((item) => URL.canParse(item) && isHttpOfThisMachine(new URL(item)), LOOPBACK)),
    {
      description:
        "Whether Pawl looks for Ollama and LM Studio on this machine while no provider is set, to offer them on the page, in `pawl chat` and in `pawl doctor`; or the addresses where it looks.",
      defaultValue: true,
      defaultText: "on: `http://127.0.0.1:11434` and `http://127.0.0.1:1234`",
    },
  ),
  PAWL_FALLBACK_MODELS: setting(
    listOfItems((name) => name.length <= 200, "names of models, separated by commas"),
    {
      description:
        "The models to try in this order if a conversation's model is unreachable, overloaded or out of quota. Agents and conversations can set their own.",
      defaultValue: [],
    },
  ),
  PAWL_TITLE_MODEL: setting(anyText, {
    description:
      "A small model that writes the title of a conversation after its first answer, from the first question and its answer. `pawl exec` does not use it.",
    defaultText: "no model: the title is the first words of the message",
  }),
}

const isHttpOfThisMachine = ({ protocol, hostname }: URL): boolean => protocol === "http:" && isThisMachine(hostname)

/** The addresses that the setting stands for. */
export function localModelServers(value: boolean | readonly string[]): readonly string[] {
  if (typeof value === "boolean") return value ? DEFAULT_LOCAL_SERVERS : []
  return value.map((address) => new URL(address).origin)
}
