{% test unique_together(model, columns) %}
select {{ columns | join(', ') }}, count() as rows_of_key
from {{ model }}
group by {{ columns | join(', ') }}
having count() > 1
{% endtest %}
