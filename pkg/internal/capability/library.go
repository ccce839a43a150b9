package capability

import (
	"bytes"
	"iter"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/policy"
)

// networkModules are modules for connections, and parts of their names.
var networkModules = wordSet(`requests httpx aiohttp urllib urllib2 urllib3 http https httplib httplib2 socket websocket
	websockets ws smtplib ftplib paramiko boto3 botocore axios fetch undici got superagent net tls dgram playwright
	puppeteer selenium HTTP`)

// networkFunctions are functions for connections, and networkClasses such classes.
var (
	networkFunctions = wordSet(`fetch WebSocket`)
	networkClasses   = wordSet(`XMLHttpRequest TcpClient WebClient`)
)

// writingNames are functions that write, with names that mean nothing else. writingMethods are such methods.
var (
	writingNames = wordSet(`writeFile writeFileSync appendFile appendFileSync createWriteStream mkdirSync unlinkSync rmSync
		renameSync copyFileSync cpSync`)
	writingMethods = wordSet("unlink", `write_text write_bytes rmdir touch mkdir makedirs rename symlink_to to_csv to_excel
		to_json savefig save removedirs`)
)

// writingFunctions are functions that write, with the module or class that they belong to; * stands for all.
var writingFunctions = wordSet(`os.remove os.replace os.chmod os.truncate os.symlink shutil.* tempfile.* FileUtils.*
	fs.mkdir fs.rm fs.rename fs.copyFile fs.cp Deno.writeFile Deno.writeTextFile Bun.write File.write File.open
	File.delete File.rename IO.write`, "fs.unlink")

// wordSet returns the set of the words of texts.
func wordSet(texts ...string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for word := range strings.FieldsSeq(strings.Join(texts, " ")) {
			set[word] = true
		}
		return set
	})
}

// libraryUses returns the first offset where code imports or calls a library that connects, and one that writes. It is
// for libraries that [flow] does not know, and does not parse the code.
func libraryUses(data []byte) iter.Seq2[policy.Capability, int] {
	network, write := -1, -1
	if i := bytes.Index(data, []byte("/dev/tcp/")); i >= 0 {
		network = i
	}
	offset := 0
	for line := range bytes.Lines(data) {
		connects, writes := lineUses(line)
		if connects && network < 0 {
			network = offset
		}
		if writes && write < 0 {
			write = offset
		}
		if network >= 0 && write >= 0 {
			break
		}
		offset += len(line)
	}
	return func(yield func(policy.Capability, int) bool) {
		if network >= 0 && !yield(policy.NetworkTools, network) {
			return
		}
		if write >= 0 {
			yield(policy.FileWrite, write)
		}
	}
}

// maxArguments is the number of bytes of a line that are read to find the modes of files that it opens. A line with more,
// such as a hostile one with very many calls, counts as writing.
const maxArguments = 1 << 16

// lineUses reports whether a line of code imports or calls a library that connects, and one that writes.
func lineUses(line []byte) (connects, writes bool) {
	imports, names := false, false // the line imports; it has the name of a module
	arguments := 0                 // how many bytes of them were read
	root, module := "", false      // of a dotted name: the first name, such as os in os.path.join; one is a module
	for i := 0; i < len(line); i++ {
		if !nameByte(line[i]) {
			continue
		}
		start := i
		for i < len(line) && nameByte(line[i]) {
			i++
		}
		name := string(line[start:i])
		method := start > 0 && line[start-1] == '.'
		if !method {
			root, module = name, false
		}
		called := i < len(line) && line[i] == '('
		switch name {
		case "import", "from", "require", "using", "use":
			imports = true
		case "open":
			if called && !writes {
				found, n := opensToWrite(line[i:])
				arguments += n
				writes = found || arguments > maxArguments
			}
		}
		connects = connects || networkClasses()[name] || called && (networkFunctions()[name] || method && module)
		module = module || networkModules()[name]
		names = names || module
		writes = writes || writingNames()[name] || method && called && (writingMethods()[name] ||
			writingFunctions()[root+"."+name] || writingFunctions()[root+".*"])
	}
	return connects || imports && names, writes
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// opensToWrite reports whether the arguments of a call have a mode that allows writing, such as 'w' and "ab", and how many
// bytes of them it read.
func opensToWrite(arguments []byte) (writes bool, n int) {
	i := 0
	for ; i < len(arguments) && arguments[i] != ')'; i++ {
		if c := arguments[i]; c == '\'' || c == '"' {
			end := bytes.IndexByte(arguments[i+1:], c)
			if end < 0 {
				return false, len(arguments)
			}
			mode := string(arguments[i+1 : i+1+end])
			if mode != "" && len(mode) < 5 && strings.Trim(mode, "rwaxbt+") == "" && strings.ContainsAny(mode, "wax+") {
				return true, i
			}
			i += end + 1
		}
	}
	return false, i
}
