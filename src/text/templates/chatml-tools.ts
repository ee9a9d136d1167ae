/**
 * ChatML with tools in the Hermes form. Used for checkpoints that have ChatML markers but no template,
 * and for conversations with tools where the checkpoint's own template cannot show them.
 */
export const CHATML_TOOLS_TEMPLATE = String.raw`{%- if tools %}
{{- '<|im_start|>system\n' }}
{%- if messages[0].role == 'system' %}
    {{- messages[0].content + '\n\n' }}
{%- endif %}
{{- '# Tools\n\nYou may call these functions. Their signatures, one JSON object a line:\n<tools>' }}
{%- for tool in tools %}
    {{- '\n' }}
    {{- tool | tojson }}
{%- endfor %}
{{- '\n</tools>\n\nAnswer a call as JSON between <tool_call> and </tool_call>.<|im_end|>\n' }}
{%- elif messages[0].role == 'system' %}
{{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
{%- endif %}
{%- set ns = namespace(last_user=-1) %}
{%- for m in messages %}
    {%- if m.role == 'user' %}{%- set ns.last_user = loop.index0 %}{%- endif %}
{%- endfor %}
{%- for m in messages %}
    {%- set content = m.content if m.content is string else '' %}
    {%- if m.role == 'system' and loop.first %}
    {%- elif m.role in ['user', 'system'] %}
        {{- '<|im_start|>' + m.role + '\n' + content + '<|im_end|>\n' }}
    {%- elif m.role == 'assistant' %}
        {{- '<|im_start|>assistant\n' }}
        {%- if m.reasoning_content is defined and m.reasoning_content is string and loop.index0 > ns.last_user %}
            {{- '<think>\n' + m.reasoning_content.strip('\n') + '\n</think>\n\n' + content.lstrip('\n') }}
        {%- elif '</think>' in content %}
            {{- content.split('</think>')[-1].lstrip('\n') }}
        {%- else %}
            {{- content }}
        {%- endif %}
        {%- if m.tool_calls %}
            {%- for call in m.tool_calls %}
                {%- if (loop.first and content) or not loop.first %}{{- '\n' }}{%- endif %}
                {%- if call.function is defined %}{%- set call = call.function %}{%- endif %}
                {{- '<tool_call>\n{"name": "' + call.name + '", "arguments": ' }}
                {{- call.arguments if call.arguments is string else call.arguments | tojson }}
                {{- '}\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\n' }}
    {%- elif m.role == 'tool' %}
        {%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\n<tool_response>\n' + content + '\n</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '<|im_end|>\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\n\n</think>\n\n' }}
    {%- endif %}
{%- endif %}`;
