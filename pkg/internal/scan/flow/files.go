package flow

import (
	"strings"
)

// file evaluates functions that read and write files.
func (c *code) file(name, last string, receiver value, args []arg) (value, bool) {
	first, second := argOf(args, 0, "file", "path", "filename"), argOf(args, 1, "mode")
	switch name {
	case "open", "io.open", "codecs.open", "aiofiles.open", "File.open", "File.new":
		return c.open(first, second.text, name), true
	case "File.read", "IO.read", "File.readlines", "fs.readFileSync", "fs.readFile", "fs.promises.readFile",
		"fs/promises.readFile", "Bun.file", "Deno.readTextFile", "Deno.readTextFileSync", "readFileSync",
		"fs.createReadStream", "pandas.read_csv", "dotenv.dotenv_values", "fs.readJsonSync", "fs.readJson",
		"dotenv.parse":
		if name == "dotenv.dotenv_values" && len(args) == 0 {
			first = value{text: ".env", literal: true}
		}
		return c.read(first, name), true
	case "File.write", "IO.write", "fs.writeFileSync", "fs.writeFile", "fs.promises.writeFile",
		"fs/promises.writeFile", "fs.appendFileSync", "fs.appendFile", "Bun.write", "Deno.writeTextFile",
		"fs.promises.appendFile", "fs/promises.appendFile", "fs.outputFile", "Deno.writeFile":
		c.write(first, second, name)
		return value{}, true
	case "fs.createWriteStream":
		c.write(first, value{}, name)
		return value{name: "open()", text: first.text, literal: true}, true
	case "shutil.copy", "shutil.copyfile", "shutil.copy2", "shutil.move", "os.rename", "os.replace",
		"fs.copyFileSync", "fs.copyFile", "fs.renameSync", "FileUtils.cp", "shutil.copytree":
		c.write(second, c.read(first, name), name)
		return value{}, true
	case "os.walk", "os.listdir", "os.scandir", "glob.glob", "glob.iglob", "fs.readdirSync", "fs.readdir", "Dir.glob",
		"globSync", "fs/promises.readdir", "fs.promises.readdir":
		return c.listed(first, name, name == "os.walk" || strings.Contains(first.text, "**")), true
	case "shutil.rmtree", "fs.rmSync", "FileUtils.rm_rf", "fs.rm", "rimraf", "fs.promises.rm":
		if isHome(cleanPath(first.text)) {
			c.fact(Fact{Kind: Deletes, Detail: first.text, Client: name, Sure: Certain})
		}
		return value{}, true
	case "os.chmod", "fs.chmodSync", "fs.chmod":
		if m := second.text; m == "0o777" || m == "0777" || m == "777" || m == "0o4755" {
			c.fact(Fact{Kind: Loosens, Detail: m, Client: name, Sure: Certain})
		}
		return value{}, true
	case "json.load", "yaml.safe_load", "json.loads", "toml.load", "tomllib.load", "JSON.parse", "yaml.load",
		"configparser.ConfigParser", "pickle.load":
		v := union(valuesOf(args)...)
		return value{from: v.from}, true
	case "sqlite3.connect":
		return c.read(first, name), true
	case "os.popen":
		return value{}, false
	}
	isPath := receiver.name == "Path" || receiver.name == "" && receiver.text != ""
	switch last {
	case "read_text", "read_bytes":
		return c.read(receiver, "Path."+last), true
	case "write_text", "write_bytes":
		c.write(receiver, first, "Path."+last)
		return value{}, true
	case "open":
		if receiver.name == "Path" {
			return c.open(receiver, first.text, "Path.open"), true
		}
	case "rglob", "glob", "iterdir":
		if isPath || len(receiver.from) > 0 {
			return c.listed(receiver, "Path."+last, last == "rglob" || strings.Contains(first.text, "**")), true
		}
	case "write", "writelines", "puts":
		if receiver.name == "open()" {
			c.write(receiver, first, "open")
			return value{}, true
		}
	case "dump":
		if f := argOf(args, 1, "fp", "stream"); f.name == "open()" {
			c.write(f, first, name)
			return value{}, true
		}
	}
	return value{}, false
}

// open evaluates the opening of a file.
func (c *code) open(file value, mode, client string) value {
	if strings.ContainsAny(mode, "wax+") && len(mode) < 5 {
		if file.text == "" && !file.literal {
			file.text = c.hole(file)
		}
		c.write(file, value{}, client)
		return value{name: "open()", text: file.text, literal: true}
	}
	v := c.read(file, client)
	return value{from: v.from}
}

// listed evaluates the listing of a directory.
func (c *code) listed(dir value, client string, deep bool) value {
	c.walks = c.walks || deep
	text := cleanPath(dir.text)
	if kind, ok := readKind(text); ok && kind != ReadsSkill {
		v := c.source(Fact{Kind: kind, Detail: text, Client: client, Sure: Certain})
		return value{from: v.from.with(dir.from)}
	}
	if isHome(text) && deep {
		v := c.source(Fact{Kind: ReadsHome, Detail: text, Client: client})
		return value{from: v.from.with(dir.from), name: "Path"}
	}
	return value{from: dir.from, name: "Path"}
}
