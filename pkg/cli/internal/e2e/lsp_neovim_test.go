//go:build slow

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestNeovim drives the language server with Neovim's own client. SKILLPM_REQUIRE_NVIM=1 makes a missing Neovim a
// failure.
func TestNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		if os.Getenv("SKILLPM_REQUIRE_NVIM") != "" {
			t.Fatal(err)
		}
		t.Skip("there is no nvim")
	}
	dir, server := t.TempDir(), self(t)
	for name, text := range map[string]string{
		"test.lua":                     neovimTest,
		"work/my skills/demo/SKILL.md": neovimSkill,
		"work/my skills/demo/guide.md": "# Guide\n\n## Über\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, nvim, "--headless", "--clean", "-n", "-c", "luafile "+filepath.Join(dir, "test.lua"))
	cmd.Dir = filepath.Join(dir, "work")
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_DATA_HOME="+dir, "SERVER="+server, "WORK="+cmd.Dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	got, err := os.ReadFile(filepath.Join(dir, "work/my skills/demo/SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != neovimMended {
		t.Errorf("got\n%s\nwant\n%s", got, neovimMended)
	}
}

const neovimSkill = `---
name: demo
description: Shows a thing 😀. Use it: to see
allowed-tools: Read, Grep
---

# Demo 😀

See [the guide](guide.md#über) and 😀 [another](gone.md).
`

const neovimMended = `---
name: demo
description: "Shows a thing 😀. Use it: to see"
allowed-tools: Read Grep
---

# Demo 😀

<!-- skillpm-ignore REF001: reason -->
See [the guide](guide.md#über) and 😀 [another](gone.md).
`

// neovimTest is the script that Neovim runs; it works with 0.7 and later.
const neovimTest = `
local function main()
  local lsp, api = vim.lsp, vim.api
  local function eventually(what, check)
    assert(vim.wait(60000, check, 10), 'it never happened: ' .. what)
  end

  -- Open the skill and start the server.
  vim.cmd('edit ' .. vim.fn.fnameescape(vim.env.WORK .. '/my skills/demo/SKILL.md'))
  local buf, ended = api.nvim_get_current_buf(), nil
  local id = lsp.start_client({
    name = 'skillpm',
    cmd = { vim.env.SERVER, 'lsp' },
    root_dir = vim.env.WORK,
    on_exit = function(code) ended = code end,
  })
  assert(id, 'no client')
  assert(lsp.buf_attach_client(buf, id), 'not attached')

  -- Diagnostics: which rules, where.
  local function codes()
    local all = {}
    for _, d in ipairs(vim.diagnostic.get(buf)) do
      local code = d.code or (d.user_data and d.user_data.lsp and d.user_data.lsp.code)
      table.insert(all, string.format('%s %d:%d', code, d.lnum, d.col))
    end
    table.sort(all)
    return table.concat(all, ', ')
  end
  local function shows(want)
    if not vim.wait(60000, function() return codes() == want end, 10) then
      error('diagnostics are ' .. codes() .. ', not ' .. want)
    end
  end
  -- Neovim counts columns in bytes: the server's UTF-16 was understood.
  shows('FM003 2:39, FM019 3:15, REF001 8:51')

  -- Hover.
  local function request(method, params)
    local answers, err = lsp.buf_request_sync(buf, method, params, 60000)
    assert(answers, method .. ': ' .. tostring(err))
    local answer = assert(answers[id], method .. ': no answer')
    assert(not answer.err and not answer.error, method .. ': ' .. vim.inspect(answer))
    return answer.result
  end
  local function at(line, column)
    api.nvim_win_set_cursor(0, { line, column })
    return lsp.util.make_position_params(0, 'utf-16')
  end
  local hover = request('textDocument/hover', at(4, 2))
  assert(hover.contents.value:find('Allowed tools', 1, true), vim.inspect(hover))

  -- Completion of a key that is missing, and of a link behind an emoji.
  local function labels(result)
    local all = {}
    for _, item in ipairs(lsp.util.extract_completion_items(result)) do all[item.label] = item end
    return all
  end
  api.nvim_buf_set_lines(buf, 4, 4, true, { 'lic' })
  local keys = labels(request('textDocument/completion', at(5, 3)))
  assert(keys['license'] and not keys['name'], vim.inspect(keys))
  assert(keys['license'].textEdit.newText == 'license: ', vim.inspect(keys['license']))
  api.nvim_buf_set_lines(buf, 4, 5, true, {})
  api.nvim_buf_set_lines(buf, -1, -1, true, { '', '😀 [x](gu)' })
  local files = labels(request('textDocument/completion', at(11, 9)))
  assert(files['guide.md'], vim.inspect(files))
  api.nvim_buf_set_lines(buf, -3, -1, true, {})

  -- Document links.
  local links = request('textDocument/documentLink', { textDocument = lsp.util.make_text_document_params(0) })
  local function leads(link) return link.target:find('my%20skills/demo/guide.md#L3', 1, true) end
  assert(#vim.tbl_filter(leads, links) == 1, vim.inspect(links))

  -- Code actions, as a user runs them: choose by title.
  local function run(line, column, title)
    api.nvim_win_set_cursor(0, { line, column })
    local done = false
    vim.ui.select = function(items, options, choose)
      for i, item in ipairs(items) do
        if options.format_item(item):find(title, 1, true) then
          choose(item, i)
          done = true
          return
        end
      end
      error('no action ' .. title .. ' among ' .. vim.inspect(items))
    end
    lsp.buf.code_action()
    eventually(title, function() return done end)
  end
  shows('FM003 2:39, FM019 3:15, REF001 8:51')
  run(4, 16, 'FM019: ')
  shows('FM003 2:39, REF001 8:51')
  run(3, 40, 'FM003: ')
  shows('REF001 8:51')
  run(9, 52, 'Ignore REF001')
  shows('')

  -- What is typed is checked before it is saved, and all is mended at once.
  local good = api.nvim_buf_get_lines(buf, 0, -1, true)
  api.nvim_buf_set_lines(buf, 3, 4, true, { 'allowed-tools: [Read, Grep]' })
  eventually('a finding', function() return codes() ~= '' end)
  local context = { diagnostics = {}, only = { 'source.fixAll' } }
  local all = request('textDocument/codeAction', vim.tbl_extend('force', lsp.util.make_range_params(0, 'utf-16'), { context = context }))
  assert(#all == 1 and all[1].kind == 'source.fixAll.skillpm', vim.inspect(all))
  lsp.util.apply_workspace_edit(all[1].edit, 'utf-16')
  shows('')
  assert(vim.deep_equal(good, api.nvim_buf_get_lines(buf, 0, -1, true)), vim.inspect(api.nvim_buf_get_lines(buf, 0, -1, true)))

  vim.cmd('write')
  lsp.get_client_by_id(id).stop()
  eventually('the end', function() return ended ~= nil end)
  assert(ended == 0, 'the server exited with ' .. ended)
end

local ok, err = xpcall(main, debug.traceback)
if not ok then
  io.stderr:write(err .. '\n')
  vim.cmd('cquit 1')
end
vim.cmd('qall!')
`
