#!/usr/bin/python3
"""
Commands in the documents: what they are, and run as a reader would paste them.

usage: documents.py list                      all documents
       documents.py check [FILE...]           is every block marked, does every link lead somewhere
       documents.py commands FILE TAG         the commands of the blocks with this tag, one a line
       documents.py run FILE TAG              run these blocks, in order, in one shell

A code block is fenced and names its language. A `bash` block has one tag behind it:

    fresh     typed on a machine that has nothing yet: run by scripts/test_fresh.sh
    plain     run by the tests, without ROS 2
    ros       run by the tests where ROS 2 is installed
    untested  run by no test; the paragraph before the block says *Not tested: the reason.*

Blocks of a document share a shell, which begins in the repository for the README and in an empty
folder, with the workspace set up, for the others. `yaml` and `csv` blocks with the name of a file
are written there. Commands that go on until they are stopped (`ros2 launch`, and all but the last
that a comment puts into a `terminal` of their own) are started, and stopped by Ctrl-C before the
next one of their kind starts or the document ends. A command with the comment `# refused: REASON`
must end with exit status 1, and not by an exception.
"""

import os
from pathlib import Path
import re
import shlex
import signal
import subprocess
import sys
import tempfile

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = {'bash', 'yaml', 'xml', 'text', 'json', 'cpp', 'csv', 'cmake'}
TAGS = {'fresh', 'plain', 'ros', 'untested'}
SECONDS = 900  # for all commands of a document

# What a command that goes on prints when it is ready.
READY = [
    (r'ros2 launch puma_bringup view\.launch\.py', r'Robot initialized'),
    (r'ros2 launch puma_bringup real\.launch\.py.*calibrate:=true', r'\w+ controls \w+'),
    (r'ros2 launch puma_bringup real\.launch\.py', r'inactive until it is calibrated'),
    (r'ros2 launch puma_moveit_config .*hardware:=emulated', r'\w+ controls \w+'),
    (r'ros2 launch ', r'spawner-[0-9]+\]: process has finished cleanly'),
    (r'puma (emulate|guard) ', r'.'),
]

# What says that a command was refused although its exit status does not.
REFUSED = re.compile(r'success=False.*|Goal finished with status: (?!SUCCEEDED).*'
                     r'|Goal was rejected.*|Set(ting)? parameter failed.*|Error setting .*')

# Commands and the ROS 2 package that they need: without it, their block is left out.
NEEDS = [(r'\bros2 bag\b', 'rosbag2_py'),
         (r'moveit|move_to|tool_gripper|apply_planning_scene', 'moveit_ros_move_group')]

PRELUDE = r'''
set -eo pipefail
logs=$(mktemp -d) services=
# stop: Ctrl-C for what goes on, the last first; it has 30 s to end.
stop() {
  local one
  for one in $services; do
    kill -INT -- "-$one" 2>/dev/null || true
    for _ in $(seq 300); do
      if ! kill -0 "$one" 2>/dev/null; then continue 2; fi
      sleep 0.1
    done
    kill -KILL -- "-$one" 2>/dev/null || true
    echo "does not end on Ctrl-C; its output:"
    cat "$logs/$one"
    exit 1
  done
  services=
}
# serve COMMAND PATTERN: start it and wait until it prints the pattern.
serve() {
  local log
  log=$(mktemp -p "$logs")
  /usr/bin/python3 -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
os.setsid()
os.execvp("bash", ["bash", "-c", "exec " + sys.argv[1]])' "$1" >"$log" 2>&1 &
  services="$! $services"
  ln "$log" "$logs/$!"
  for _ in $(seq 240); do
    if grep -qE "$2" "$log"; then return; fi
    if ! kill -0 "$!" 2>/dev/null; then break; fi
    sleep 0.5
  done
  echo "is not ready (no line with: $2); its output:"
  cat "$log"
  exit 1
}
# refused COMMAND: it must say why it does nothing.
refused() {
  local status=0 log
  log=$(mktemp -p "$logs")
  bash -c "$1" >"$log" 2>&1 || status=$?
  cat "$log"
  if ((status == 1)) && ! grep -q Traceback "$log"; then return; fi
  echo "should be refused with exit status 1, not $status: $1"
  exit 1
}
cleanup() {
  for one in $services; do kill -INT -- "-$one" 2>/dev/null || true; done
  for _ in $(seq 50); do
    if ! kill -0 $services 2>/dev/null; then break; fi
    sleep 0.1
  done
  for one in $services; do kill -KILL -- "-$one" 2>/dev/null || true; done
  for one in $(jobs -p); do kill "$one" 2>/dev/null || true; done
  rm -rf "$logs"
}
trap cleanup EXIT
'''


class Block:
    """One fenced block: language, its further words, its lines, its first line's number."""

    def __init__(self, words, lines, number, before):
        self.language, *self.words = words or ['']
        self.lines, self.number, self.before = lines, number, before


def documents():
    """Return the documents of the repository, the changelogs excepted."""
    found = [*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md'), *ROOT.glob('*/README.md'),
             *ROOT.glob('*/doc/*.md'), *ROOT.glob('*/report/README.md')]
    return sorted(path for path in set(found) if path.name != 'CHANGELOG.md')


def blocks(path):
    """Return the fenced blocks of a document, and its lines outside of them."""
    found, outside, opened, before = [], [], None, ''
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fence = re.match(r'( *)```(.*)$', line)
        if opened is None and fence:
            opened, indent = Block(fence[2].split(), [], number, before), len(fence[1])
        elif fence:
            found.append(opened)
            opened, before = None, ''
        elif opened:
            opened.lines.append(line[indent:] if line[:indent].isspace() else line)
        else:
            outside.append((number, line))
            if line.strip():
                before = line.strip()
    if opened is not None:
        raise ValueError(f'{path}:{opened.number}: the block is not closed')
    return found, outside


def check(path):
    """Return what is wrong with a document's blocks."""
    wrong = []
    found, outside = blocks(path)
    for block in found:
        where = f'{path.relative_to(ROOT)}:{block.number}'
        if block.language not in LANGUAGES:
            wrong.append(f'{where}: language "{block.language}" of the block; '
                         f'one of {", ".join(sorted(LANGUAGES))}')
        elif block.language == 'bash':
            tags = [word for word in block.words if word in TAGS]
            if len(tags) != 1 or len(block.words) != 1:
                wrong.append(f'{where}: a bash block needs one tag of {", ".join(sorted(TAGS))}')
            elif tags == ['untested'] and not re.search(r'\*Not tested: .+\.\*$', block.before):
                wrong.append(f'{where}: say why before the block: *Not tested: the reason.*')
            for line in commands(block):
                if subprocess.run(['bash', '-n', '-c', line], capture_output=True).returncode:
                    wrong.append(f'{where}: the shell does not understand: {line}')
    blank = True
    for number, line in outside:
        for link in re.findall(r'\]\(([^)#\s]+)', line):
            if '://' not in link and not (path.parent / link).exists():
                wrong.append(f'{path.relative_to(ROOT)}:{number}: the link leads nowhere: {link}')
        if blank and re.match(r' {4,}\S', line) and not re.match(r' *([-*+]|\d+\.) ', line) \
                and not in_list(outside, number):
            wrong.append(f'{path.relative_to(ROOT)}:{number}: '
                         'fence this block and name its language')
        blank = not line.strip()
    return wrong


def in_list(lines, number):
    """Tell whether the last line before this one that is not indented begins a list's item."""
    for at, line in reversed(lines):
        if at < number and line.strip() and not line.startswith('    '):
            return bool(re.match(r' *([-*+]|\d+\.) ', line))
    return False


def commands(block):
    """Return a block's commands; lines that the shell joins are one."""
    result, text = [], ''
    for line in block.lines:
        text += line
        if text.endswith('\\'):
            text = text[:-1].rstrip() + ' '
            continue
        try:
            shlex.split(text, comments=True)
        except ValueError:  # a quotation that goes on
            text = text.rstrip() + ' '
            continue
        if text.split('#')[0].strip():
            result.append(text.strip())
        text = ''
    return result + ([text.strip()] if text.strip() else [])


def ready(command):
    """Return what a command that goes on until it is stopped prints at first; '' for others."""
    for pattern, text in READY:
        if re.match(pattern, command):
            return text
    return ''


def serves(command, others):
    """Tell whether a command goes on while others are typed."""
    terminal = re.search(r'# terminal (\d+)', command)
    if terminal:
        return any(int(other) > int(terminal[1]) for other in re.findall(
            r'# terminal (\d+)', '\n'.join(others)))
    return command.startswith('ros2 launch ')


def missing(block):
    """Return the ROS 2 package that a block needs and that is not installed, or None."""
    prefixes = [Path(one) for one in os.environ.get('AMENT_PREFIX_PATH', '').split(':') if one]
    for command, package in NEEDS:
        if not re.search(command, '\n'.join(block.lines)):
            continue
        if prefixes and not any((one / 'share' / package).is_dir() for one in prefixes):
            return package
    return None


def script(path, tag):
    """Return the shell script that runs a document's blocks of this tag, '' if there are none."""
    lines = []
    for block in blocks(path)[0]:
        if block.language in ('yaml', 'csv') and block.words:
            lines += [f"cat >{block.words[0]} <<'end of block'", *block.lines, 'end of block']
        if block.language != 'bash' or tag not in block.words:
            continue
        if package := missing(block):
            lines.append(f'echo {shlex.quote(f"left out, needs {package}: {block.lines[0]} …")}')
            continue
        own = commands(block)
        for command in own:
            lines.append(f'echo {shlex.quote("$ " + command)}')
            if re.search(r'# refused: ', command):
                lines.append(f'refused {shlex.quote(command)}')
            elif serves(command, own):
                if not re.search(r'# terminal [2-9]', command):
                    lines.append('stop')
                lines.append(f'serve {shlex.quote(command)} {shlex.quote(ready(command))}')
            else:
                lines.append(command)
    if not any(line.startswith('echo ') for line in lines):
        return ''
    return '\n'.join([PRELUDE, *lines, 'stop', ''])


def isolation():
    """Return the command that gives a script its own processes and shared memory, [] if none can.

    An emulated arm of the same name that somebody runs does not disturb, and nothing is left.
    """
    command = ['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc',
               'bash', '-c', 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && exec "$@"', 'bash']
    try:
        subprocess.run([*command, 'true'], check=True, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return []
    return command


def run(path, tag):
    """Run a document's blocks of this tag; return the exit status."""
    text = script(path, tag)
    if not text:
        print(f'{path.relative_to(ROOT)}: no block is tagged {tag}')
        return 0
    setup = 'ros/install/setup.bash' if tag == 'ros' else 'plain/install/local_setup.bash'
    kept = ('ROS_DOMAIN_ID', 'ROS_AUTOMATIC_DISCOVERY_RANGE', 'CYCLONEDDS_URI')
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {'PATH': '/usr/bin:/bin:/usr/sbin:/sbin', 'LANG': 'C.UTF-8', 'USER': 'reader',
                    'PYTHONDONTWRITEBYTECODE': '1'}
    with tempfile.TemporaryDirectory() as folder:
        environment['HOME'] = folder
        at = ROOT
        if path != ROOT / 'README.md':
            at = folder
            text = f'. {shlex.quote(str(ROOT / "build" / setup))}\n{text}'
        output = Path(folder, '.output')
        with output.open('w') as file:
            process = subprocess.Popen([*isolation(), 'bash', '-c', text], cwd=at, env=environment,
                                       stdout=file, stderr=subprocess.STDOUT,
                                       stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            status = process.wait(SECONDS)
            if refused := REFUSED.search(output.read_text()):
                print(f'{path.relative_to(ROOT)}: a command was refused: {refused[0]}')
                status = 1
            return status
        except subprocess.TimeoutExpired:
            print(f'{path.relative_to(ROOT)}: not done after {SECONDS} s')
            return 1
        finally:
            print(output.read_text())
            try:
                os.killpg(process.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass


def main(arguments):
    """Do what the usage says."""
    verb, rest = (arguments or [''])[0], arguments[1:]
    if verb == 'list' and not rest:
        print(*(path.relative_to(ROOT) for path in documents()), sep='\n')
        return 0
    if verb == 'check':
        wrong = [line for path in map(lambda name: Path(name).resolve(), rest or documents())
                 for line in check(path)]
        print(*wrong, sep='\n', end='\n' if wrong else '')
        return 1 if wrong else 0
    if verb in ('commands', 'run') and len(rest) == 2 and rest[1] in TAGS:
        path = Path(rest[0]).resolve()
        if verb == 'run':
            return run(path, rest[1])
        for block in blocks(path)[0]:
            if block.language == 'bash' and rest[1] in block.words:
                print(*commands(block), sep='\n')
        return 0
    print(__doc__.strip(), file=sys.stderr)
    return 2


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
