/** The shells' side: each calls `drover complete-line` with the words of the line and takes what it prints, or completes a file's name. */

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export const COMPLETE_COMMAND = "complete-line";

/** Each line of the answer is a word, a tab, and its description. */
const SCRIPTS: Record<Shell, string> = {
  bash: `# drover's completion for bash. To use it: source <(drover completion bash)
_drover() {
  local line words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    COMPREPLY+=("$line")
  done < <(drover ${COMPLETE_COMMAND} -- "\${words[@]}" 2>/dev/null)
}
complete -o default -F _drover drover`,
  zsh: `#compdef drover
# drover's completion for zsh. To use it: source <(drover completion zsh)
_drover() {
  local word text
  local -a found
  while IFS=$'\\t' read -r word text; do
    found+=("\${word//:/\\:}:$text")
  done < <(drover ${COMPLETE_COMMAND} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe drover found; else _files; fi
}
compdef _drover drover`,
  fish: `# drover's completion for fish. To use it: drover completion fish | source
function __drover_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (drover ${COMPLETE_COMMAND} -- $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c drover -f -a '(__drover_complete)'`,
};

export function completionScript(shell: Shell): string {
  return SCRIPTS[shell];
}
