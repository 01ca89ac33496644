# Ends servers whose owner is gone; see watchdog.ts.
# In:  standard input, one line `PID IDENTITY` per server, open for as long as the owner lives; $1, the servers' folder.
# Out: every named process that is still the same is killed, and the folder removed.
trap '' INT HUP TERM

# Must say what processIdentity() of identity.ts says.
identity() {
  if [ -r /proc/self/stat ]; then
    { read -r stat < "/proc/$1/stat"; } 2>/dev/null || return
    # the name in brackets may hold spaces and brackets of its own, so count from the last one
    set -- ${stat##*) }
    echo "${20}"
  else
    ps -o lstart= -p "$1" | tr -d '[:space:]'
  fi
}

started=
while read -r pid identity; do started="$started $pid:$identity"; done

for one in $started; do
  if [ "$(identity "${one%%:*}")" = "${one#*:}" ]; then kill -9 "${one%%:*}"; fi
done

case "$1" in */drover-servers-*) ;; *) exit 1 ;; esac
# a dying server can still create a file between two deletions
for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- "$1" 2>/dev/null && break; sleep 0.2; done
