/**
 * The turns form of models with `<start_of_turn>` markers, for checkpoints without a template: system
 * text stands in front of the first user turn, roles alternate.
 */
export const TURNS_TEMPLATE = String.raw`{{ bos_token }}
{%- set sysmsg = messages[0] if messages[0]['role'] == 'system' else none -%}
{%- set lead = '' -%}
{%- if sysmsg is not none -%}
    {%- set lead = (sysmsg['content'] if sysmsg['content'] is string else sysmsg['content'][0]['text']) + '\n\n' -%}
{%- endif -%}
{%- for turn in (messages[1:] if sysmsg is not none else messages) -%}
    {%- set who = {'assistant': 'model'}.get(turn['role'], turn['role']) -%}
    {%- if who != ('user' if loop.index is odd else 'model') -%}
        {{ raise_exception('turns must go user, model, user, model; got ' + who + ' at ' + loop.index0 | string) }}
    {%- endif -%}
    {{ '<start_of_turn>' ~ who ~ '\n' ~ (lead if loop.first else '') }}
    {%- if turn['content'] is string -%}
        {{ turn['content'] | trim }}
    {%- else -%}
        {%- for part in turn['content'] if part['type'] in ('text', 'image') -%}
            {{ part['text'] | trim if part['type'] == 'text' else '<start_of_image>' }}
        {%- endfor -%}
    {%- endif -%}
    {{ '<end_of_turn>\n' }}
{%- endfor -%}
{{ '<start_of_turn>model\n' if add_generation_prompt }}`;
